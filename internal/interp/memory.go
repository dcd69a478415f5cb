package interp

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/bpf"
)

// Read returns a copy of n bytes at addr. It is for helpers.
//
// Errors: what was tried, and why it is refused.
func (m *Machine) Read(addr uint64, n int) ([]byte, error) {
	at, err := m.find(addr, n)
	if err == nil && slices.Contains(at.written, false) {
		err = fmt.Errorf("not all of this stack was written before")
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", n, addr, err)
	}
	return slices.Clone(at.Bytes), nil
}

// Write writes data at addr. It is for helpers.
//
// Errors: what was tried, and why it is refused; nothing is written then.
func (m *Machine) Write(addr uint64, data []byte) error {
	at, err := m.find(addr, len(data))
	if err == nil && !at.Writable {
		err = fmt.Errorf("%s is read-only", at.Name)
	}
	if err != nil {
		return fmt.Errorf("writing %d bytes at %#x: %w", len(data), addr, err)
	}
	copy(at.Bytes, data)
	for i := range at.written {
		at.written[i] = true
	}
	return nil
}

// memory is a region, or the stack of a function in progress, of which it is known which bytes were written.
type memory struct {
	Region
	written []bool
}

// all yields all memory that the program can access.
func (m *Machine) all(yield func(memory) bool) {
	for _, f := range m.frames {
		if !yield(memory{Region{"the stack", f.top - StackSize, f.stack[:], true}, f.written[:]}) {
			return
		}
	}
	for _, r := range m.Regions {
		if !yield(memory{r, nil}) {
			return
		}
	}
}

// find returns the n bytes at addr.
func (m *Machine) find(addr uint64, n int) (memory, error) {
	for at := range m.all {
		off := addr - at.Base
		if off >= uint64(len(at.Bytes)) {
			continue
		}
		if left := uint64(len(at.Bytes)) - off; uint64(n) > left {
			return at, fmt.Errorf("%s ends %d bytes behind this address", at.Name, left)
		}
		at.Bytes = at.Bytes[off : off+uint64(n)]
		if at.written != nil {
			at.written = at.written[off : off+uint64(n)]
		}
		return at, nil
	}
	return memory{}, fmt.Errorf("no memory is there")
}

// load reads a number of 1, 2, 4 or 8 bytes.
func (m *Machine) load(f *frame, addr uint64, size int) uint64 {
	if f.why != "" {
		return 0
	}
	bytes, err := m.Read(addr, size)
	if err != nil {
		f.refuse("%v", err)
		return 0
	}
	var word [8]byte
	copy(word[:], bytes)
	return binary.LittleEndian.Uint64(word[:])
}

// store writes the low 1, 2, 4 or 8 bytes of v.
func (m *Machine) store(f *frame, addr uint64, size int, v uint64) {
	if f.why != "" {
		return
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	if err := m.Write(addr, word[:size]); err != nil {
		f.refuse("%v", err)
	}
}

// address returns the address that a load or store accesses through r.
func address(f *frame, in bpf.Insn, r uint8) uint64 { return f.get(r) + uint64(int64(in.Off)) }

// loadRegister executes a load.
func (m *Machine) loadRegister(f *frame, in bpf.Insn) {
	v := m.load(f, address(f, in, in.Src()), in.Size())
	if in.Mode() == bpf.MemSX {
		v = extend(v, 8*in.Size())
	}
	f.set(in.Dst(), v)
}

// atomic executes an atomic operation.
func (m *Machine) atomic(f *frame, in bpf.Insn) {
	addr, size, src := address(f, in, in.Dst()), in.Size(), f.get(in.Src())
	if addr%uint64(size) != 0 {
		f.refuse("an atomic access of %d bytes at %#x, which is not aligned", size, addr)
	}
	old := m.load(f, addr, size)
	switch in.Imm {
	case bpf.Cmpxchg:
		value := old
		if low(f.get(0), size) == old {
			value = src
		}
		m.store(f, addr, size, value)
		f.set(0, old)
		return
	case bpf.Xchg:
		m.store(f, addr, size, src)
	default:
		m.store(f, addr, size, binary64(uint8(in.Imm&^bpf.Fetch), false, old, src))
	}
	if in.Imm&bpf.Fetch != 0 {
		f.set(in.Src(), old)
	}
}

// low returns the low bytes of v.
func low(v uint64, size int) uint64 {
	if size == 4 {
		return uint64(uint32(v))
	}
	return v
}
