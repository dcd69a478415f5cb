package frame

import "unsafe"

// Memory is a Source of at most Limit bytes (0: any number) of Go memory, with made-up
// physical addresses. For tests on the host.
type Memory struct {
	Limit uint64
	taken uint64
	next  uint64
}

// Take implements Source.
func (m *Memory) Take() ([]byte, uint64, error) {
	if m.Limit != 0 && m.taken+BlockSize > m.Limit {
		return nil, 0, ErrNoMemory
	}
	m.taken += BlockSize
	m.next += BlockSize
	// One page more than needed, to align the block: entries of tables and physical pages are
	// aligned.
	mem := make([]byte, BlockSize+Size)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % Size
	return mem[skip : skip+BlockSize : skip+BlockSize], m.next, nil
}

// Give implements Source.
func (m *Memory) Give([]byte, uint64) { m.taken -= BlockSize }

// Taken is how many bytes have been taken and not given back.
func (m *Memory) Taken() uint64 { return m.taken }
