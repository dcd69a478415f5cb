package image

import (
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"testing"

	"sonde/kallsyms"
	"sonde/kallsyms/entries"
)

func TestFinishAddsTheTableOfEntries(t *testing.T) {
	raw := link(t)
	out := filepath.Join(t.TempDir(), "tiny.elf")
	if err := Finish(raw, out, Options{Entry: "main.main", SymtabVar: "main.symtab", EntriesVar: "main.entries"}); err != nil {
		t.Fatal(err)
	}
	info, err := Inspect(out)
	if err != nil {
		t.Fatal(err)
	}
	table := loadEntries(t, out, info)
	t.Logf("%d entries", table.Len())
	for _, s := range []struct {
		name string
		want func(first uint64, fn kallsyms.Symbol) bool
	}{
		{"runtime.goexit.abi0", func(first uint64, fn kallsyms.Symbol) bool { return first == fn.Addr+1 }},
		{"runtime.main", func(first uint64, fn kallsyms.Symbol) bool { return first > fn.Addr+4 }}, // it has defers
	} {
		fn, err := info.Symbols.Addr(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if in := table.Within(fn.Addr, fn.Size); len(in) == 0 || !s.want(in[0], fn) {
			t.Errorf("%s at %#x: entries %#x", s.name, fn.Addr, in)
		}
	}
}

// loadEntries reads the table as the kernel finds it: by the variable.
func loadEntries(t *testing.T, path string, info Info) *entries.Table {
	t.Helper()
	sym, err := info.Symbols.Addr("main.entries")
	if err != nil {
		t.Fatal(err)
	}
	where := loaded(t, path, sym.Addr, 16)
	addr, size := binary.LittleEndian.Uint64(where), binary.LittleEndian.Uint64(where[8:])
	table, err := entries.Load(loaded(t, path, addr, size))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// loaded returns the n bytes that a loader puts at addr.
func loaded(t *testing.T, path string, addr, n uint64) []byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr+n <= p.Vaddr+p.Filesz {
			b := make([]byte, n)
			if _, err := p.ReadAt(b, int64(addr-p.Vaddr)); err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Fatalf("%d bytes at %#x are in no segment", n, addr)
	return nil
}

func TestFinishWithoutReaderAddsNoEntries(t *testing.T) {
	raw := link(t)
	var sizes [2]uint64
	for i, name := range []string{"main.nobody", "main.entries"} {
		out := filepath.Join(t.TempDir(), "tiny.elf")
		if err := Finish(raw, out, Options{Entry: "main.main", SymtabVar: "main.symtab", EntriesVar: name}); err != nil {
			t.Fatal(err)
		}
		info, err := Inspect(out)
		if err != nil {
			t.Fatal(err)
		}
		sizes[i] = uint64(info.Size)
	}
	if sizes[0] >= sizes[1] {
		t.Errorf("sizes %d without, %d with the table", sizes[0], sizes[1])
	}
}
