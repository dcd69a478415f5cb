package space

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// testPrograms is as the machine's.
var testPrograms = Window{64 << 10, 0x7fff_ffff_f000}

// fakeMachine has processors that cache translations until they are told to discard them.
type fakeMachine struct {
	Machine
	t    *testing.T
	mem  *frame.Memory
	cpus map[*Space]*tlb
}

// tlb is what a processor has cached: last-level entries by page, and last-level tables by the
// range that they cover.
type tlb struct {
	entries map[uint64]uint64
	tables  map[uint64]frame.Frame
}

func newMachine(t *testing.T, bytes uint64) *fakeMachine {
	t.Helper()
	m := &fakeMachine{t: t, mem: &frame.Memory{Limit: bytes}, cpus: map[*Space]*tlb{}}
	m.Frames = frame.NewPool(m.mem)
	m.Programs = testPrograms
	m.KernelHalf = kernelHalf
	m.Shootdown = func(s *Space, start, end uint64, tables bool) {
		cpu := m.cpu(s)
		for page, e := range cpu.entries {
			if page >= start && page < end {
				m.uses(s, page, frameOf(e))
				delete(cpu.entries, page)
			}
		}
		if tables {
			for span, table := range cpu.tables {
				m.uses(s, span, table)
			}
			clear(cpu.tables)
		}
	}
	m.Retire = func(s *Space) {
		m.uses(s, 0, frame.Frame(s.Root()))
		delete(m.cpus, s)
	}
	return m
}

// kernelHalf resembles the machine's.
func kernelHalf(root *[512]uint64) {
	for i := 256; i < 512; i++ {
		root[i] = uint64(i)<<12 | amd64.PTE_P | amd64.PTE_W
	}
}

// uses fails the test if f is free: the processor could access it until now.
func (m *fakeMachine) uses(s *Space, at uint64, f frame.Frame) {
	if !m.Frames.Owns(f) {
		m.t.Fatalf("%#x: the frame %#x was free before the CPUs forgot it", at, f)
	}
}

func (m *fakeMachine) space() *Space {
	m.t.Helper()
	s, err := m.New()
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// permits reports whether an entry allows ring 3 that access.
func permits(e uint64, want Prot) bool {
	switch {
	case e&(amd64.PTE_P|amd64.PTE_U) != amd64.PTE_P|amd64.PTE_U, want&Write != 0 && e&amd64.PTE_W == 0:
		return false
	}
	return want&Exec == 0 || e&amd64.PTE_NX == 0
}

// cpu returns the cache of the processor that runs s.
func (m *fakeMachine) cpu(s *Space) *tlb {
	if m.cpus[s] == nil {
		m.cpus[s] = &tlb{map[uint64]uint64{}, map[uint64]frame.Frame{}}
	}
	return m.cpus[s]
}

// translate does what a processor does in ring 3: it looks into its cache, then walks the tables.
func (m *fakeMachine) translate(s *Space, addr uint64, want Prot) (uint64, bool) {
	page, cpu := addr&^(PageSize-1), m.cpu(s)
	if e, ok := cpu.entries[page]; ok && permits(e, want) {
		return e, true
	}
	delete(cpu.entries, page) // as a page fault does
	table, ok := cpu.tables[addr/span(1)]
	if !ok {
		if table, ok = m.walk(s, addr); !ok {
			return 0, false
		}
		cpu.tables[addr/span(1)] = table
	}
	if !m.Frames.Owns(table) {
		m.t.Fatalf("%#x: the last table is free", addr)
	}
	e := *slot(m.Frames.Words(table), addr, 0)
	if !permits(e, want) {
		return 0, false
	}
	cpu.entries[page] = e
	return e, true
}

// walk returns the last-level table for addr.
func (m *fakeMachine) walk(s *Space, addr uint64) (frame.Frame, bool) {
	f := frame.Frame(s.Root())
	for level := uint(top); level > 0; level-- {
		e := *slot(m.Frames.Words(f), addr, level)
		if !ours(e) {
			return 0, false
		}
		if f = frameOf(e); !m.Frames.Owns(f) {
			m.t.Fatalf("%#x: the table of level %d is free", addr, level-1)
		}
	}
	return f, true
}

// access is an access by a program: on a fault it calls the kernel, once.
func (m *fakeMachine) access(s *Space, addr uint64, want Prot) (*byte, error) {
	m.t.Helper()
	e, ok := m.translate(s, addr, want)
	if !ok {
		if err := s.Fault(addr, want); err != nil {
			return nil, err
		}
		if e, ok = m.translate(s, addr, want); !ok {
			m.t.Fatalf("%#x: Fault allows %d, the tables do not", addr, want)
		}
	}
	if !m.Frames.Owns(frameOf(e)) {
		m.t.Fatalf("%#x: the frame %#x is free", addr, frameOf(e))
	}
	return &m.Frames.Bytes(frameOf(e))[addr%PageSize], nil
}

// empty fails the test unless all frames are free.
func (m *fakeMachine) empty() {
	m.t.Helper()
	if got := m.Frames.Stats().Used; got != 0 {
		m.t.Fatalf("%d frames are still used", got)
	}
}

// fakeFile is a backing.Store with a number of pages, which it keeps as a page cache does.
type fakeFile struct {
	m     *fakeMachine
	pages map[uint64]frame.Frame
	size  uint64 // in pages
	holds int
}

func (m *fakeMachine) file(pages uint64) *fakeFile {
	return &fakeFile{m: m, pages: map[uint64]frame.Frame{}, size: pages}
}

func (b *fakeFile) Frame(page uint64) (frame.Frame, error) {
	if page >= b.size {
		return frame.None, backing.ErrBus
	}
	if b.pages[page] == frame.None {
		f, err := b.m.Frames.Alloc()
		if err != nil {
			return frame.None, err
		}
		for i := range b.m.Frames.Bytes(f) {
			b.m.Frames.Bytes(f)[i] = byte(page) ^ 0x80
		}
		b.pages[page] = f
	}
	b.m.Frames.Ref(b.pages[page])
	return b.pages[page], nil
}

func (b *fakeFile) Hold() { b.holds++ }
func (b *fakeFile) Drop() { b.holds-- }
func (b *fakeFile) Ident() backing.Ident {
	return backing.Ident{Name: "/bin/fake", Dev: 8 << 20, Inode: 42}
}

// close drops the cache.
func (b *fakeFile) close() {
	for _, f := range b.pages {
		b.m.Frames.Put(f)
	}
	b.pages = nil
}
