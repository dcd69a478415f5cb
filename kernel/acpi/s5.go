package acpi

// S5 holds the two numbers that mean "power off" on this board.
type S5 struct {
	Found      bool
	TypA, TypB uint8 // SLP_TYPa and SLP_TYPb, 3 bits
}

// PM1 returns what to write to a PM1 control block to sleep with type typ, old
// being its present value.
func PM1(old uint16, typ uint8) uint16 {
	return old&^(7<<pm1SlpTypShift) | uint16(typ&7)<<pm1SlpTypShift | PM1_SLP_EN
}

// Sleep returns what to write to the sleep control register of a
// hardware-reduced board.
func Sleep(typ uint8) uint8 { return typ&7<<slpTypShift | SLEEP_SLP_EN }

const (
	sigS5      = 0x5f35535f // "_S5_"
	amlZero    = 0x00
	amlOne     = 0x01
	amlName    = 0x08
	amlByte    = 0x0a
	amlWord    = 0x0b
	amlDword   = 0x0c
	amlPackage = 0x12
	amlRoot    = 0x5c // the '\' of "\_S5_"
)

// scan looks for Name(_S5_, Package(…){…}) byte by byte, since finding it
// properly takes an AML interpreter. The opcodes on both sides make a chance
// hit in data unlikely; the first that reads well counts.
func (s *S5) scan(t table) {
	for off := uint64(headSize); !s.Found && t.has(off, 4); off++ {
		if t.u32(off) != sigS5 {
			continue
		}
		before := t.u8(off - 1)
		if before == amlRoot {
			before = t.u8(off - 2)
		}
		if before == amlName {
			s.value(t, off+4)
		}
	}
}

// value reads the package at off: PackageOp PkgLength NumElements integers.
func (s *S5) value(t table, off uint64) {
	if t.u8(off) != amlPackage {
		return
	}
	off += 2 + uint64(t.u8(off+1)>>6) // PkgLength: lead byte and 0 to 3 more
	n := t.u8(off)
	a, off, ok := t.integer(off + 1)
	if n == 0 || !ok {
		return
	}
	b := a >> 8 // a single element holds both in one integer
	if n > 1 {
		if b, _, ok = t.integer(off); !ok {
			return
		}
	}
	*s = S5{true, uint8(a & 7), uint8(b & 7)}
}

// integer reads an AML integer constant and returns the offset after it.
func (t table) integer(off uint64) (v uint32, next uint64, ok bool) {
	switch op := t.u8(off); op {
	case amlZero, amlOne:
		return uint32(op), off + 1, t.has(off, 1)
	case amlByte:
		return uint32(t.u8(off + 1)), off + 2, t.has(off, 2)
	case amlWord:
		return uint32(t.u16(off + 1)), off + 3, t.has(off, 3)
	case amlDword:
		return t.u32(off + 1), off + 5, t.has(off, 5)
	}
	return 0, off, false
}
