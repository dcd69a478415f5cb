package kallsyms

import (
	"slices"
	"strings"
	"testing"

	"sonde/internal/quick"
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

// TestManyStars: a pattern with many stars is compared in no time, whether it fits or not.
func TestManyStars(t *testing.T) {
	name, stars := strings.Repeat("a", 60), strings.Repeat("*a", 20)
	quick.Do(t, func() {
		for pattern, want := range map[string]bool{stars + "*": true, stars + "*b": false, stars: true, stars + "b": false, strings.Repeat("*a", 60): true, strings.Repeat("*a", 61): false,
			"**": true, "a*a*": true, "*ab": false, "b*a": false, strings.Repeat("a", 30) + "*" + strings.Repeat("a", 30): true, strings.Repeat("a", 31) + "*" + strings.Repeat("a", 30): false} {
			if got := Fits(pattern, name); got != want {
				t.Errorf("%s: %t", pattern, got)
			}
		}
	})
}
