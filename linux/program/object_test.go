package program

import (
	"debug/elf"
	"os"
	"testing"

	"sonde/kernel/abi"
)

// TestAsDebugELF compares what is read of real files with what package debug/elf reads.
func TestAsDebugELF(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{exe, libc, "/bin/busybox", "/bin/true"} {
		want, err := elf.Open(path)
		if err != nil || want.Machine != elf.EM_X86_64 {
			t.Logf("%s: not here", path)
			continue
		}
		defer want.Close()
		got := open(t, path).elf
		if len(got.segments) != len(want.Progs) || len(got.sections) != len(want.Sections) || len(got.sections) < 10 {
			t.Fatalf("%s: %d segments, %d sections", path, len(got.segments), len(got.sections))
		}
		for i, p := range want.Progs {
			if w := (abi.ELFSegment{Type: uint32(p.Type), Flags: uint32(p.Flags), Offset: p.Off, VAddr: p.Vaddr, PAddr: p.Paddr, FileSize: p.Filesz, MemSize: p.Memsz, Align: p.Align}); got.segments[i] != w {
				t.Errorf("%s: segment %d: %+v, want %+v", path, i, got.segments[i], w)
			}
		}
		for i, w := range want.Sections {
			g := got.sections[i]
			if g.name != w.Name || g.kind != uint32(w.Type) || g.flags != uint64(w.Flags) || g.addr != w.Addr || g.off != w.Offset || g.size != w.Size {
				t.Errorf("%s: section %d: %+v, want %+v", path, i, g, w.SectionHeader)
			}
			if b, _ := w.Data(); w.Type != elf.SHT_NOBITS && g.flags&secCompressed == 0 && string(got.data(&g)) != string(b) {
				t.Errorf("%s: %s differs", path, g.name)
			}
		}
		static, _ := want.Symbols()
		dynamic, _ := want.DynamicSymbols()
		compareSymbols(t, path, got.symbols(secSymbols), static)
		compareSymbols(t, path, got.symbols(secDynamic), dynamic)
	}
}

// compareSymbols: debug/elf leaves out the first, which is none.
func compareSymbols(t *testing.T, path string, got []symbol, want []elf.Symbol) {
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if len(got) != 1+len(want) {
		t.Fatalf("%s: %d symbols, want %d", path, len(got)-1, len(want))
	}
	for i, s := range want {
		w := symbol{s.Name, uint8(elf.ST_TYPE(s.Info)), elf.ST_BIND(s.Info) == elf.STB_LOCAL, uint16(s.Section), s.Value, s.Size}
		if got[1+i] != w {
			t.Errorf("%s: symbol %d: %+v, want %+v", path, i, got[1+i], w)
		}
	}
}
