package optprobe

// maxCopy is the greatest length of a copy. The worst case in five bytes and the rest of
// the last instruction is two loops, which grow from two bytes to nine, an instruction of
// 15 bytes, and the jump back.
const maxCopy = 48

// maxMarks is how many marks a copy can need: three loops and the jump back.
const maxMarks = 3*3 + 1

// Copy is the code of a region, rewritten for another address.
type Copy struct {
	From, To uint64 // where the region and the copy begin
	code     [maxCopy]byte
	marks    [maxMarks]mark
	len      uint8
	nmarks   uint8
}

// mark says which state the code has reached when IP is at a byte of the copy, from this
// mark to the next.
type mark struct {
	off  uint8 // in the copy
	kind kind
	ip   uint64 // in the original
}

type kind uint8

const (
	begins  kind = iota // nothing of the instruction at ip has been done
	pushed              // the return address of the call at ip has been pushed
	decided             // of a copied branch, only the jump to ip remains
)

// Bytes returns the code to be placed at To. It ends with a jump back after the region,
// unless the last instruction never continues there.
func (c *Copy) Bytes() []byte { return c.code[:c.len] }

// Place is a point of execution in original code.
type Place struct {
	IP uint64

	// Pushed: the trap was between the two instructions of a copied call. IP is the call;
	// RSP is 8 less than at the call, and points to the return address. To show the state
	// before the call, or to continue at IP, add 8 to RSP.
	Pushed bool
}

// Original translates an IP in the copy. It returns false if ip is not in the copy.
//
// Context: any, including trap context.
func (c *Copy) Original(ip uint64) (Place, bool) {
	off := ip - c.To
	if off >= uint64(c.len) {
		return Place{}, false
	}
	for i := min(int(c.nmarks), maxMarks) - 1; i >= 0; i-- {
		if m := &c.marks[i]; uint64(m.off) <= off {
			return Place{IP: m.ip, Pushed: m.kind == pushed}, true
		}
	}
	return Place{}, false
}

// At returns the address in the copy of the instruction at address ip of the region, or
// false if no instruction begins there. It is for a CPU that was stopped inside the region,
// and for skipping a stack check that has been decided.
//
// Context: any, including trap context.
func (c *Copy) At(ip uint64) (uint64, bool) {
	for i := range min(int(c.nmarks), maxMarks) {
		if m := &c.marks[i]; m.kind == begins && m.ip == ip {
			return c.To + uint64(m.off), true
		}
	}
	return 0, false
}
