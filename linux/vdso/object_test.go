//go:build linux

package vdso

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
)

// TestObjectIsAnELFFile: a linker finds each function by both names, with the version.
func TestObjectIsAnELFFile(t *testing.T) {
	b := Object(0x50a00)
	if len(b) != pageSize {
		t.Fatalf("%d bytes", len(b))
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_DYN || f.Machine != elf.EM_X86_64 || f.Section(".text") != f.Sections[textSection] {
		t.Errorf("%+v", f.FileHeader)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range symbols {
		names = append(names, s.Name)
		if s.Version != version && s.Name != version {
			t.Errorf("%s has version %q", s.Name, s.Version)
		}
		if s.Name != version && (elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Value < atClockGettime || s.Value+s.Size > atEnd) {
			t.Errorf("%+v", s)
		}
	}
	want := []string{"LINUX_2.6", "__vdso_clock_getres", "__vdso_clock_gettime", "__vdso_getcpu", "__vdso_gettimeofday", "__vdso_time",
		"clock_getres", "clock_gettime", "getcpu", "gettimeofday", "time"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if name, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(name, []string{soname}) {
		t.Errorf("%q, %v", name, err)
	}
	for tag, section := range map[elf.DynTag]string{elf.DT_HASH: ".hash", elf.DT_STRTAB: ".dynstr", elf.DT_SYMTAB: ".dynsym", elf.DT_VERSYM: ".gnu.version", elf.DT_VERDEF: ".gnu.version_d"} {
		if v, err := f.DynValue(tag); err != nil || !slices.Equal(v, []uint64{f.Section(section).Addr}) {
			t.Errorf("%v is %#x, %v", tag, v, err)
		}
	}
	if note, err := f.Section(".note").Data(); err != nil || string(note) != "\x06\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00Linux\x00\x00\x00\x00\x0a\x05\x00" {
		t.Errorf("%q, %v", note, err)
	}
}

// TestHash: the value is that which Go's runtime has for the version.
func TestHash(t *testing.T) {
	if h := hashOf(version); h != 0x3ae75f6 {
		t.Errorf("%#x", h)
	}
}
