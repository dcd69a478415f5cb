package kallsyms_test

import (
	"slices"
	"testing"

	"sonde/internal/image"
	. "sonde/kallsyms"
)

// TestCNamesOfTheKernel checks the C names of all functions of the test image.
func TestCNamesOfTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test image")
	}
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for s := range info.Symbols.Text {
		names = append(names, s.Name)
	}
	CheckCNames(t, names)

	short := CNames(names)
	for name, want := range map[string]string{
		"sonde/kernel/vfs.(*File).Write": "vfs_File_Write",
		"runtime.mallocgc":               "runtime_mallocgc",
	} {
		i := slices.Index(names, name)
		if i < 0 {
			t.Errorf("the image has no %s", name)
		} else if short[i] != want {
			t.Errorf("%s is %s, want %s", name, short[i], want)
		}
	}
}
