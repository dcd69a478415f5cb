package kallsyms

import (
	"errors"
	"strings"
	"testing"
)

func TestAliasesResolve(t *testing.T) {
	table := mustLoad(t, append(sample(), Symbol{Name: "sonde/linux/proc.(*Thread).end", Addr: 0x1160, Size: 0x10, Type: 'T'}, Symbol{Name: "vfs.write", Addr: 0x1170, Size: 8, Type: 'T'},
		Symbol{Name: "sonde/kernel/mm.zero.abi0", Addr: 0x11a0, Size: 8, Type: 'T'}, Symbol{Name: "sonde/kernel/vfs.Write", Addr: 0x11b0, Size: 8, Type: 'T'}))
	for name, want := range map[string]string{
		"vfs_File_Read":    "sonde/kernel/vfs.(*File).Read",
		"kernel_vfs_Read":  "sonde/kernel/vfs.Read",
		"user_vfs_Read":    "sonde/user/vfs.Read",
		"runtime_memmove":  "runtime.memmove",
		"vfs_read":         "sonde/kernel/vfs.Read",
		"vfs_write":        "sonde/kernel/vfs.Write", // not vfs.write, whose C name this would be
		"do_exit":          "sonde/linux/proc.(*Thread).end",
		"mm_zero":          "sonde/kernel/mm.zero.abi0",
		"_stext":           "runtime.text",
		"local":            "",
		"vfs_unlink":       "", // the kernel has not what it is
		"type_eq_vfs_File": "", // data
		"vfs.Nothing":      "",
	} {
		s, err := table.Resolve(name)
		if s.Name != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v; want %q", name, s.Name, err, want)
		}
	}
	if _, err := table.Resolve("vfs_Reed"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestAliasesComeBeforeEnds: tools attach by them, and to look for the end of a name is to read all names.
func TestAliasesComeBeforeEnds(t *testing.T) {
	table := mustLoad(t, append(sample(), Symbol{Name: "sonde/data/vfs_read", Addr: 0x1200, Size: 8, Type: 'D'}))
	if s, err := table.Resolve("vfs_read"); err != nil || s.Name != "sonde/kernel/vfs.Read" {
		t.Errorf("vfs_read is %q, %v", s.Name, err)
	}
	if s, err := table.Resolve("data/vfs_read"); err != nil || s.Addr != 0x1200 {
		t.Errorf("data/vfs_read is %q, %v", s.Name, err)
	}
}

func TestAliasesFitPatterns(t *testing.T) {
	table := mustLoad(t, sample())
	for pattern, want := range map[string]int{"*_vfs_*": 2, "vfs_*": 2, "vfs_r*": 1, "vfs.*": 3, "runtime_*": 1, "net_*": 0, "net.*": 0} {
		if got := table.Functions(pattern); len(got) != want {
			t.Errorf("%s: %v, want %d", pattern, got, want)
		}
	}
}

// TestAliasesAreListed: available_filter_functions has one name of each function.
func TestAliasesAreListed(t *testing.T) {
	table := mustLoad(t, sample())
	var symbols, functions strings.Builder
	if err := errors.Join(table.WriteAliases(&symbols), table.WriteFunctions(&functions)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(symbols.String(), "0000000000001040 T vfs_File_Read\t[alias]\n") || !strings.Contains(symbols.String(), "00000000000010c0 T vfs_read\t[alias]\n") {
		t.Errorf("aliases:\n%s", &symbols)
	}
	if got, want := functions.String(), "runtime_memmove\nvfs_File_Read\nvfs_read\nuser_vfs_Read\nentry_stub\nmm_Map_go_shape_int_\n"; got != want {
		t.Errorf("functions:\n%s\nwant:\n%s", got, want)
	}
}

// TestEachSymbolHasOneNameInC: tools would otherwise name an address by any of them.
func TestEachSymbolHasOneNameInC(t *testing.T) {
	table := mustLoad(t, sample())
	var text strings.Builder
	if err := table.WriteC(&text); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text.String()) {
		at, name := line[:16], strings.TrimSpace(line[19:])
		if _, linux := Linux(name); seen[at] && !linux && strings.ContainsAny(line[17:18], "Tt") {
			t.Errorf("a second name at %s: %s", at, name)
		}
		seen[at] = true
	}
	if !strings.Contains(text.String(), " T vfs_read\n") || !strings.Contains(text.String(), " T vfs_File_Read\n") || strings.Contains(text.String(), "T sonde/") {
		t.Errorf("%s", &text)
	}
}

// TestLinuxNames: no name is listed twice, and none says more of its arguments than a call can have.
func TestLinuxNames(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range LinuxNames() {
		if seen[l.Name] || !isC(l.Name) || l.Args > 6 || l.Skip+l.Args > 9 {
			t.Errorf("%+v", l)
		}
		seen[l.Name] = true
	}
}
