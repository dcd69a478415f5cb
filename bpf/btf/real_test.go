package btf

import (
	"compress/gzip"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// module is the folder with the source of cilium/ebpf, whose tests have objects made by clang.
func module(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cilium/ebpf").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.TrimSpace(string(dir))
}

// TestObjectsOfClang holds that what clang 11 to 17 writes is read, with lines and relocations.
func TestObjectsOfClang(t *testing.T) {
	dir, files := module(t), []string{}
	for _, pattern := range []string{"testdata/*-e[lb].elf", "*/testdata/*-e[lb].elf"} {
		more, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	lines, relos := 0, 0
	for _, file := range files {
		l, r := readObjectFile(t, file)
		lines, relos = lines+l, relos+r
	}
	t.Logf("%d files, %d lines, %d relocations", len(files), lines, relos)
	if len(files) < 50 || lines < 300 || relos < 50 {
		t.Errorf("%d files, %d lines, %d relocations: expected at least 50, 300 and 50", len(files), lines, relos)
	}
}

// readObjectFile returns how many lines and relocations are in a file.
func readObjectFile(t *testing.T, file string) (lines, relos int) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := ReadObject(contents(t, f, ".BTF"))
	if f.Data == elf.ELFDATA2MSB {
		if err == nil || !strings.Contains(err.Error(), "it is big-endian") {
			t.Errorf("%s: %v: expected that it is big-endian", file, err)
		}
		return 0, 0
	}
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return 0, 0
	}
	if f.Section(".BTF.ext") == nil { // data alone
		return 0, 0
	}
	ext, err := table.ReadExt(contents(t, f, ".BTF.ext"))
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return 0, 0
	}
	for name, of := range ext.Lines {
		if end := f.Section(name).Size / 8; uint64(of[len(of)-1].PC) >= end {
			t.Errorf("%s: %s has a line at instruction %d of %d", file, name, of[len(of)-1].PC, end)
		}
		lines += len(of)
	}
	for _, of := range ext.Relos {
		relos += len(of)
	}
	return lines, relos
}

func contents(t *testing.T, f *elf.File, name string) []byte {
	t.Helper()
	s := f.Section(name)
	if s == nil {
		t.Fatalf("no section %s", name)
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKernelOfLinux holds that the types of a whole kernel are valid, and equal when written and
// read again.
func TestKernelOfLinux(t *testing.T) {
	packed, err := os.Open(filepath.Join(module(t), "btf", "testdata", "vmlinux.btf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d types", len(data), table.Len()-1)
	again, err := build(table.types[1:])
	if err != nil {
		t.Fatal(err)
	}
	second, err := Read(again)
	if err != nil || !reflect.DeepEqual(second.types, table.types) {
		t.Errorf("the types are different when they are written: %v", err)
	}
	list, err := table.Find(Struct, "list_head")
	if want := "struct list_head {\n\tstruct list_head *next;\n\tstruct list_head *prev;\n};"; err != nil || table.Text(list) != want {
		t.Errorf("struct list_head is printed as %s (%v)", table.Text(list), err)
	}
}
