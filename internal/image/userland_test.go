package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"sonde/kernel/vfs/cpio"
)

// TestUserlandIsWholeAndTheSameAgain: every name leads to the program, which is static
// and has its symbols; and the archive depends on nothing but the sources.
func TestUserlandIsWholeAndTheSameAgain(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	// go test takes a result from its cache unless files have changed that this process has seen.
	filepath.WalkDir(filepath.Join(root, "user"), func(name string, _ fs.DirEntry, err error) error {
		_, statErr := os.Stat(name)
		return errors.Join(err, statErr)
	})
	one, err := userland(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if two, err := userland(root, t.TempDir()); err != nil || !bytes.Equal(one, two) {
		t.Errorf("built twice: %d and %d bytes, which differ; %v", len(one), len(two), err)
	}
	entries, n, err := cpio.Read(one)
	if err != nil || n > len(one) || len(bytes.Trim(one[n:], "\x00")) > 0 {
		t.Fatalf("%d bytes of %d are read: %v", n, len(one), err)
	}
	byName := map[string]cpio.Entry{}
	for _, e := range entries {
		byName[e.Name] = e
	}
	for _, name := range []string{"sh", "ls", "cat", "grep", "nm", "myprog", "burn", "work"} {
		link := byName["bin/"+name]
		file := byName[path.Join("bin", string(link.Data))]
		if link.Type() != cpio.Symlink || file.Type() != cpio.Regular || file.Mode&0o111 == 0 {
			t.Errorf("bin/%s: mode %o leads to %q, mode %o", name, link.Mode, link.Data, file.Mode)
		}
	}
	checkProgram(t, byName["bin/box"].Data)
}

func checkProgram(t *testing.T, data []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program is not static")
		}
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == "myfunc" {
			return
		}
	}
	t.Error("the program has no symbol myfunc")
}
