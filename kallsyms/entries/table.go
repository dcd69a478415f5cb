package entries

import (
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"

	"sonde/kernel/refusal"
)

const (
	magic      = "sondeENT"
	headerSize = 16
	addrSize   = 4
)

// What Encode and Load refuse.
var (
	ErrFormat = refusal.New(syscall.EINVAL, "not a table of entries")
	ErrFar    = refusal.New(syscall.ERANGE, "address does not fit in 32 bits with a sign")
)

// Table is a set of addresses. It is immutable. Nil is the empty table.
type Table struct{ addrs []uint64 }

// Encode packs addresses, in any order, for Load.
//
// Errors: ErrFar.
func Encode(addrs []uint64) ([]byte, error) {
	addrs = slices.Clone(addrs)
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	blob := append(make([]byte, 0, headerSize+addrSize*len(addrs)), magic...)
	blob = binary.LittleEndian.AppendUint32(blob, uint32(len(addrs)))
	blob = binary.LittleEndian.AppendUint32(blob, 0)
	for _, a := range addrs {
		if extended(uint32(a)) != a {
			return nil, fmt.Errorf("entries: encode %#x: %w", a, ErrFar)
		}
		blob = binary.LittleEndian.AppendUint32(blob, uint32(a))
	}
	return blob, nil
}

// extended is the address of which a table has the low half.
func extended(low uint32) uint64 { return uint64(int64(int32(low))) }

// Load reads a table. The blob may continue after it and is not needed afterwards.
//
// Errors: ErrFormat, wrapped with what is wrong.
func Load(blob []byte) (*Table, error) {
	if len(blob) < headerSize || string(blob[:len(magic)]) != magic {
		return nil, fmt.Errorf("entries: load %d bytes: no magic: %w", len(blob), ErrFormat)
	}
	n := int(binary.LittleEndian.Uint32(blob[len(magic):]))
	rest := blob[headerSize:]
	if n > len(rest)/addrSize {
		return nil, fmt.Errorf("entries: load: %d addresses in %d bytes: %w", n, len(rest), ErrFormat)
	}
	t := &Table{make([]uint64, n)}
	for i := range t.addrs {
		t.addrs[i] = extended(binary.LittleEndian.Uint32(rest[i*addrSize:]))
	}
	if !slices.IsSorted(t.addrs) {
		return nil, fmt.Errorf("entries: load: not in order: %w", ErrFormat)
	}
	return t, nil
}

// Within returns the addresses in [addr, addr+size), ascending. The slice is
// the table's own.
//
// Context: any; does not allocate.
func (t *Table) Within(addr, size uint64) []uint64 {
	if t == nil {
		return nil
	}
	i, _ := slices.BinarySearch(t.addrs, addr)
	rest := t.addrs[i:]
	n := 0
	for n < len(rest) && rest[n]-addr < size {
		n++
	}
	return rest[:n:n]
}

// Len returns the number of addresses.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return len(t.addrs)
}
