package space

import (
	"testing"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// TestDumped: what of each kind of area is in a core file, as core(5) says of the default, and which of its pages
// there are.
func TestDumped(t *testing.T) {
	const huge = 1 << 28 // pages: reading each would take minutes
	m := newMachine(t, 0)
	s := m.space()
	elf := func(pages uint64) *fakeFile {
		f := m.file(pages)
		p, err := f.Frame(0)
		must(t, err)
		copy(m.Frames.Bytes(p), "\x7fELF")
		m.Frames.Put(p)
		return f
	}
	var wants []uint64
	var written [][]uint64
	next := uint64(high)
	area := func(pages uint64, prot Prot, flags Flags, b backing.Store, off, size uint64, write ...uint64) (at uint64) {
		t.Helper()
		at = next
		mapAt(t, s, at, pages, prot, flags, b, off)
		for _, p := range write {
			must(t, s.Store32(at+p*PageSize, 0xc0de0000|uint32(byte(p))))
		}
		wants, written, next = append(wants, size*PageSize), append(written, write), at+(pages+1)*PageSize
		return at
	}
	area(huge, Read|Write, NoReserve, nil, 0, huge, 0, 600, huge-1)
	none := area(3, Read|Write, 0, nil, 0, 3, 1)
	must(t, s.Protect(none, 3*PageSize, 0))
	area(2, Read|Write, NotDumped, nil, 0, 0, 1)
	text := area(3, Read|Exec, 0, elf(3), 0, 1)
	must(t, s.Fault(text+PageSize, Exec))
	must(t, s.Break(text+8))
	must(t, s.Fault(text, Exec))
	area(3, Read, 0, m.file(3), 0, 0)
	area(3, Read, 0, elf(3), PageSize, 0)
	data := area(3, Read|Write, 0, elf(3), 0, 3, 2)
	must(t, s.Protect(data, 3*PageSize, Read))
	area(3, Read|Write, Shared, elf(3), 0, 0, 1)
	area(3, Read|Write, Shared, nil, 0, 3, 1)
	area(1, Read, OfKernel, m.file(1), 0, 1)

	all := s.Dumped(DumpUsual)
	if len(all) != len(wants) {
		t.Fatalf("%d areas, want %d", len(all), len(wants))
	}
	for i, a := range all {
		if a.Size != wants[i] {
			t.Errorf("%v: %#x bytes, want %#x", a.Area, a.Size, wants[i])
		}
		if a.Ident.Inode != 0 && a.Ident.Name == "/bin/fake" {
			continue
		}
		var p [PageSize]byte
		at := a.Start
		for _, w := range written[i] {
			got, ok := s.DumpedPage(&p, at, a.End)
			if at = a.Start + w*PageSize; !ok || got != at || p[0] != byte(w) || p[3] != 0xc0 {
				t.Errorf("%v: page %#x, %v, %x, want %#x", a.Area, got, ok, p[:4], at)
			}
			at += PageSize
		}
		if got, ok := s.DumpedPage(&p, at, a.End); ok {
			t.Errorf("%v: another page at %#x", a.Area, got)
		}
	}
	var p [PageSize]byte
	if at, ok := s.DumpedPage(&p, data+PageSize, next); !ok || at != data+PageSize || p[0] != byte(filePage(1)) {
		t.Errorf("a page of a file that nobody has read: %#x, %v, %#x", at, ok, p[0])
	}
	if _, ok := s.DumpedPage(&p, text, text+1); !ok || p[8] == int3 || string(p[:4]) != "\x7fELF" {
		t.Errorf("a page with a breakpoint: %v, % x", ok, p[:9])
	}
	if s.Resident(high+700*PageSize) != frame.None {
		t.Error("reading has made pages")
	}
	s.Release()
	if _, ok := s.DumpedPage(&p, text, text+1); ok {
		t.Error("a page after Release")
	}
}

// TestDumpFilter: each bit brings its kind of area.
func TestDumpFilter(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	f := m.file(2)
	p, err := f.Frame(0)
	must(t, err)
	copy(m.Frames.Bytes(p), "\x7fELF")
	m.Frames.Put(p)
	for i, b := range []struct {
		flags Flags
		back  backing.Store
	}{{0, nil}, {Shared, nil}, {0, f}, {Shared, f}} {
		mapAt(t, s, high+uint64(4*i)*PageSize, 2, Read|Write, b.flags, b.back, 0)
	}
	for filter, want := range map[uint32][4]uint64{
		0: {}, DumpPrivate: {2}, DumpShared: {0, 2}, DumpPrivateFiles: {0, 0, 2}, DumpSharedFiles: {0, 0, 0, 2}, DumpHeaders: {0, 0, 1},
		DumpUsual: {2, 2, 1}, DumpAll: {2, 2, 2, 2},
	} {
		for i, a := range s.Dumped(filter) {
			if a.Size != want[i]*PageSize {
				t.Errorf("filter %#x, area %d: %#x bytes, want %d pages", filter, i, a.Size, want[i])
			}
		}
	}
}
