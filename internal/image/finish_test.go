package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// link builds the program in testdata/tiny as the kernel is linked.
func link(t *testing.T) string {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "tiny.raw")
	cmd := exec.Command("go", "build", "-ldflags", "-T 0x1001000 -R 0x1000", "-o", raw, ".")
	cmd.Dir = filepath.Join("testdata", "tiny")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return raw
}

func TestFinishMakesABootableImage(t *testing.T) {
	raw := link(t)
	out := filepath.Join(t.TempDir(), "tiny.elf")
	opts := Options{Entry: "main.main", SymtabVar: "main.symtab"}
	if err := Finish(raw, out, opts); err != nil {
		t.Fatal(err)
	}
	info, err := Inspect(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(info)
	main, err := info.Symbols.Addr("main.main")
	if err != nil || info.Entry != main.Addr {
		t.Errorf("entry %#x, main.main %#x, %v", info.Entry, main.Addr, err)
	}
	checkPatched(t, out, info)
	checkSegments(t, info)

	// The file is still a program the host can run, and one objdump can read.
	if got, err := exec.Command(out).CombinedOutput(); err != nil || !strings.HasPrefix(string(got), "table ") {
		t.Errorf("finished program: %v\n%s", err, got)
	}
	if got, err := exec.Command("go", "tool", "objdump", "-s", "^main.main$", out).CombinedOutput(); err != nil || !strings.Contains(string(got), "main.go:") {
		t.Errorf("objdump: %v\n%s", err, got)
	}
}

// checkPatched compares the variable in the file with the last segment.
func checkPatched(t *testing.T, path string, info Info) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.DWARF(); err != nil {
		t.Error(err)
	}
	sym, err := info.Symbols.Addr("main.symtab")
	if err != nil {
		t.Fatal(err)
	}
	last := info.Segments[len(info.Segments)-1]
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || sym.Addr < p.Vaddr || sym.Addr >= p.Vaddr+p.Filesz {
			continue
		}
		var v [16]byte
		p.ReadAt(v[:], int64(sym.Addr-p.Vaddr))
		addr, size := binary.LittleEndian.Uint64(v[:]), binary.LittleEndian.Uint64(v[8:])
		if addr != last.Vaddr || size != last.Filesz {
			t.Errorf("variable says %#x, %d; segment is at %#x, %d", addr, size, last.Vaddr, last.Filesz)
		}
	}
}

func checkSegments(t *testing.T, info Info) {
	t.Helper()
	end := uint64(0)
	for _, s := range info.Segments {
		if s.Paddr != s.Vaddr || s.Vaddr%pageSize != 0 || s.Vaddr < end || s.Off%pageSize != s.Vaddr%pageSize {
			t.Errorf("segment at %#x: physical %#x, file %#x, previous end %#x", s.Vaddr, s.Paddr, s.Off, end)
		}
		end = s.Vaddr + s.Memsz
	}
}

func TestFinishRefuses(t *testing.T) {
	raw := link(t)
	stripped := filepath.Join(t.TempDir(), "stripped")
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("not an ELF file at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-ldflags", "-s", "-o", stripped, "./testdata/tiny").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	good := Options{Entry: "main.main", SymtabVar: "main.symtab"}
	for _, c := range []struct {
		name, in string
		opts     Options
		want     error
		says     string
	}{
		{"no entry symbol", raw, Options{Entry: "nope", SymtabVar: "main.symtab"}, ErrSymbol, "nope"},
		{"no variable", raw, Options{Entry: "main.main", SymtabVar: "nope"}, ErrSymbol, "nope"},
		{"variable in bss", raw, Options{Entry: "main.main", SymtabVar: "main.inBss"}, ErrSymbol, "non-zero initial value"},
		{"variable too small", raw, Options{Entry: "main.main", SymtabVar: "main.small"}, ErrSymbol, "8 bytes"},
		{"stripped", stripped, good, ErrLayout, "-s"},
		{"garbage", garbage, good, ErrLayout, ""},
		{"missing", garbage + "x", good, os.ErrNotExist, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			err := Finish(c.in, out, c.opts)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("left an image behind")
			}
		})
	}
}

func TestCheckSize(t *testing.T) {
	for _, o := range []Options{{}, {Test: true}} {
		limit := o.limit()
		if err := CheckSize(limit, limit); err != nil {
			t.Error(err)
		}
		if err := CheckSize(limit+1, limit); !errors.Is(err, ErrSize) {
			t.Error(err)
		}
	}
	if (Options{}).limit() != MaxSize {
		t.Error("an image without tests")
	}
}

func TestBuildArguments(t *testing.T) {
	opts := BuildOptions{Test: true, Tags: []string{"race1"}, LDFlags: []string{"-w"}}
	got := strings.Join(opts.arguments("o.json", "x"), " ")
	for _, want := range []string{"-overlay=o.json", ",ktest,race1 ", "-checklinkname=0 -w", "-o x sonde/boot"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if name := opts.name(nil); name != "sonde-test-race1.elf" {
		t.Error(name)
	}
}

// TestFinishShrinks: debuggers and other readers find in the image what the linker has written, although the
// image has the names of symbols once only, and what is for debuggers in less space than the linker needs.
func TestFinishShrinks(t *testing.T) {
	raw := link(t)
	out := filepath.Join(t.TempDir(), "tiny.elf")
	if err := Finish(raw, out, Options{Entry: "main.main", SymtabVar: "main.symtab"}); err != nil {
		t.Fatal(err)
	}
	was, is := openELF(t, raw), openELF(t, out)
	before, err := was.Symbols()
	after, err2 := is.Symbols()
	if err != nil || err2 != nil || len(before) != len(after) {
		t.Fatalf("%d symbols, %d in the image: %v, %v", len(before), len(after), err, err2)
	}
	for i, s := range before {
		if typ := elf.ST_TYPE(s.Info); typ != elf.STT_FUNC && typ != elf.STT_OBJECT {
			s.Name = after[i].Name
		}
		if s != after[i] {
			t.Errorf("symbol %d is %v, in the image %v", i, s, after[i])
		}
	}
	for i, s := range was.Sections {
		now := is.Sections[i]
		if s.Flags&elf.SHF_ALLOC != 0 || s.Type != elf.SHT_PROGBITS {
			continue
		}
		a, err := s.Data()
		b, err2 := now.Data()
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has %d bytes, in the image %d: %v, %v", s.Name, len(a), len(b), err, err2)
		}
		if now.FileSize > s.FileSize {
			t.Errorf("%s takes %d bytes, by the linker %d", s.Name, now.FileSize, s.FileSize)
		}
	}
	names, table := is.Section(".strtab"), is.Progs[len(is.Progs)-2]
	if table.Type != elf.PT_LOAD || names.Offset < table.Off || names.Offset+names.FileSize > table.Off+table.Filesz {
		t.Errorf("names at %#x, %d bytes: expected them in %v", names.Offset, names.FileSize, table)
	}
}

func openELF(t *testing.T, path string) *elf.File {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
