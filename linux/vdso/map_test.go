//go:build linux

package vdso

import (
	"errors"
	"testing"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/linux/space"
)

// TestProgramsHaveTheirOwn: a program that writes to the pages changes only its own.
func TestProgramsHaveTheirOwn(t *testing.T) {
	m := space.Machine{Frames: frame.NewPool(&frame.Memory{Limit: 16 << 20}), Programs: space.Window{Start: 0x10000, End: 1 << 47}}
	v, err := New(m.Frames, Data{Mul: 5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	before := m.Frames.Stats().Used
	var spaces [2]*space.Space
	var at uint64
	for i := range spaces {
		if spaces[i], err = m.New(); err == nil {
			at, err = v.Map(spaces[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := spaces[0]
	areas := s.Areas()
	if len(areas) != 2 || areas[0].Ident.Name != "[vvar]" || areas[0].Prot != space.Read || areas[1].Ident.Name != "[vdso]" ||
		areas[1].Prot != space.Read|space.Exec || areas[1].Start != at || areas[0].End != at || areas[1].End != at+pageSize {
		t.Errorf("%v", areas)
	}
	if err := s.Store32(at-pageSize+8, 6); !errors.Is(err, space.ErrAccess) {
		t.Errorf("the data can be written: %v", err)
	}
	if err := s.Protect(at-pageSize, 2*pageSize, space.Read|space.Write); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Store32(at-pageSize+8, 6), s.Store32(at, 6)); err != nil {
		t.Fatal(err)
	}
	var b [12]byte
	for i, want := range []byte{6, 5} {
		if _, err := spaces[i].CopyIn(b[:], at-pageSize); err != nil || b[8] != want {
			t.Errorf("space %d: %x, %v", i, b, err)
		}
	}
	if _, err := spaces[1].CopyIn(b[:4], at); err != nil || string(b[:4]) != "\x7fELF" {
		t.Errorf("%q, %v", b[:4], err)
	}
	for _, s := range spaces {
		s.Release()
	}
	if after := m.Frames.Stats().Used; after != before {
		t.Errorf("%d frames are used, %d before", after, before)
	}
	if _, err := v.object.Frame(1); !errors.Is(err, backing.ErrBus) {
		t.Error(err)
	}
}
