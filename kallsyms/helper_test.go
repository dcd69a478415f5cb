package kallsyms

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func mustLoad(t testing.TB, syms []Symbol) *Table {
	t.Helper()
	table, err := Load(Encode(syms))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// sample is a small kernel: names are made up, shapes are the linker's.
func sample() []Symbol {
	return []Symbol{
		{Name: "runtime.text", Addr: 0x1000, Type: 't'},
		{Name: "runtime.memmove", Addr: 0x1000, Size: 0x34, Type: 'T'},
		{Name: "sonde/kernel/vfs.(*File).Read", Addr: 0x1040, Size: 0x80, Type: 'T'},
		{Name: "sonde/kernel/vfs.Read", Addr: 0x10c0, Size: 0x40, Type: 'T'},
		{Name: "sonde/user/vfs.Read", Addr: 0x1100, Size: 0x40, Type: 'T'},
		{Name: "entry_stub", Addr: 0x1140, Type: 't'},
		{Name: "sonde/kernel/mm.Map[go.shape.int]", Addr: 0x1180, Size: 0x20, Type: 'T'},
		{Name: "runtime.etext", Addr: 0x11a0, Type: 't'},
		{Name: "type:..eq.sonde/kernel/vfs.File", Addr: 0x2000, Size: 8, Type: 'R'},
		{Name: "sonde/kernel.ticks", Addr: 0x3000, Size: 8, Type: 'D'},
		{Name: "local", Addr: 0x3010, Size: 4, Type: 'b'},
		{Name: "local", Addr: 0x3020, Size: 4, Type: 'b'},
	}
}

// linkedSymbols reads the symbols of this package's test binary. A binary that
// "go test" runs has none, so it is linked again.
func linkedSymbols(t testing.TB) []Symbol {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "linked")
	if out, err := exec.Command("go", "test", "-c", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var syms []Symbol
	for _, s := range all {
		kind := elf.ST_TYPE(s.Info)
		if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE ||
			kind == elf.STT_SECTION || kind == elf.STT_FILE || kind == elf.STT_TLS {
			continue
		}
		letter := byte('D')
		if f.Sections[s.Section].Flags&elf.SHF_EXECINSTR != 0 {
			letter = 'T'
		}
		syms = append(syms, Symbol{Name: s.Name, Addr: s.Value, Size: s.Size, Type: letter})
	}
	return syms
}

func contains(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
