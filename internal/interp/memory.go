package interp

import (
	"encoding/binary"
	"fmt"

	"sonde/bpf"
)

// Read returns a copy of n bytes at addr. It is for helpers.
//
// Errors: what was tried, and why it is refused.
func (m *Machine) Read(addr uint64, n int) ([]byte, error) {
	bytes, written, err := m.find(addr, n)
	if err == nil && !all(written) {
		err = fmt.Errorf("not all of this stack was written before")
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", n, addr, err)
	}
	return append([]byte(nil), bytes...), nil
}

// Write writes data at addr. It is for helpers.
//
// Errors: what was tried, and why it is refused; nothing is written then.
func (m *Machine) Write(addr uint64, data []byte) error {
	bytes, written, err := m.find(addr, len(data))
	if err == nil && m.readOnly(addr) {
		err = fmt.Errorf("%s is read-only", m.name(addr))
	}
	if err != nil {
		return fmt.Errorf("writing %d bytes at %#x: %w", len(data), addr, err)
	}
	copy(bytes, data)
	for i := range written {
		written[i] = true
	}
	return nil
}

// find returns the n bytes at addr, and of stack which of them were written.
func (m *Machine) find(addr uint64, n int) (bytes []byte, written []bool, err error) {
	for _, f := range m.frames {
		if off, ok, err := within(addr, n, f.top-StackSize, StackSize, "the stack"); ok || err != nil {
			return part(f.stack[:], off, n, ok), part(f.written[:], off, n, ok), err
		}
	}
	for _, r := range m.Regions {
		if off, ok, err := within(addr, n, r.Base, len(r.Bytes), r.Name); ok || err != nil {
			return part(r.Bytes, off, n, ok), nil, err
		}
	}
	return nil, nil, fmt.Errorf("no memory is there")
}

func part[T any](s []T, off uint64, n int, ok bool) []T {
	if !ok {
		return nil
	}
	return s[off : off+uint64(n)]
}

// within tells whether the n bytes at addr lie in the memory of size bytes at base. If they only
// begin there, that is an error.
func within(addr uint64, n int, base uint64, size int, name string) (off uint64, ok bool, err error) {
	off = addr - base
	if off >= uint64(size) {
		return 0, false, nil
	}
	if left := uint64(size) - off; uint64(n) > left {
		return 0, false, fmt.Errorf("%s ends %d bytes behind this address", name, left)
	}
	return off, true, nil
}

// region returns the region that has a byte at addr, or nil.
func (m *Machine) region(addr uint64) *Region {
	for i := range m.Regions {
		if r := &m.Regions[i]; addr-r.Base < uint64(len(r.Bytes)) {
			return r
		}
	}
	return nil
}

func (m *Machine) readOnly(addr uint64) bool {
	r := m.region(addr)
	return r != nil && !r.Writable
}

func (m *Machine) name(addr uint64) string { return m.region(addr).Name }

func all(written []bool) bool {
	for _, w := range written {
		if !w {
			return false
		}
	}
	return true
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
func address(f *frame, in bpf.Insn, r uint8) uint64 {
	return f.get(r) + uint64(int64(in.Off))
}

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
