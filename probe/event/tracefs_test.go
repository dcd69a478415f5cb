package event

import (
	"testing"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
)

func TestFunctionsAreListedInBothPlaces(t *testing.T) {
	table, err := kallsyms.Load(kallsyms.Encode([]kallsyms.Symbol{{Name: "sonde/kernel/vfs.Read", Addr: 0x1000, Size: 8, Type: 'T'}}))
	if err != nil {
		t.Fatal(err)
	}
	kallsyms.SetKernel(table)
	defer kallsyms.SetKernel(nil)
	tree := vfs.New()
	if err := Mount(tree); err != nil {
		t.Fatal(err)
	}
	for _, dir := range Dirs {
		got, err := tree.ReadFile(dir[1:] + "/available_filter_functions")
		if want := "vfs_read\n"; err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", dir, got, err, want)
		}
	}
}
