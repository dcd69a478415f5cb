package kallsyms

import (
	"slices"
	"testing"
)

func TestFunctionsByPattern(t *testing.T) {
	table, err := Load(Encode([]Symbol{
		{Name: "sonde/kernel/vfs.Read", Addr: 0x1000, Size: 16, Type: 'T'},
		{Name: "sonde/kernel/vfs.(*File).Read", Addr: 0x1010, Size: 16, Type: 'T'},
		{Name: "sonde/linux/desc.Read", Addr: 0x1020, Size: 16, Type: 'T'},
		{Name: "runtime.mallocgc", Addr: 0x1030, Size: 16, Type: 'T'},
		{Name: "sonde/kernel/vfs.Root", Addr: 0x2000, Size: 8, Type: 'D'},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"vfs.*":                 {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read"},
		"vfs.Read":              {"sonde/kernel/vfs.Read"},
		"*Read":                 {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read", "sonde/linux/desc.Read"},
		"vfs.(\\*File).Read":    nil,
		"vfs.(*File).Read":      {"sonde/kernel/vfs.(*File).Read"},
		"*vfs*Re*d":             {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read"},
		"runtime.malloc*c":      {"runtime.mallocgc"},
		"fs.*":                  nil,
		"sonde/kernel/vfs.Read": {"sonde/kernel/vfs.Read"},
	} {
		var got []string
		for _, s := range table.Functions(pattern) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
