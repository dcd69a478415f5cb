package ctl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"testing/fstest"

	"sonde/kernel/vfs"
)

func bind(t *testing.T, n vfs.Node) *vfs.FS {
	t.Helper()
	f := vfs.New()
	if err := f.Bind("/proc/x", n); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestModeSaysWhichFunctionsThereAre(t *testing.T) {
	read := func() ([]byte, error) { return nil, nil }
	write := func([]byte) error { return nil }
	for _, tt := range []struct {
		file File
		want fs.FileMode
	}{{File{Read: read}, 0444}, {File{Write: write}, 0200}, {File{Read: read, Write: write}, 0644}} {
		if got := tt.file.Stat().Mode; got != tt.want {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}

func TestWriteToReadOnlyFileIsRefused(t *testing.T) {
	f := bind(t, Text(func() string { return "x" }))
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		if _, err := f.OpenFile("/proc/x", flag); !errors.Is(err, syscall.EACCES) {
			t.Errorf("flag %#x: %v", flag, err)
		}
	}
}

func TestReadOfWriteOnlyFileIsRefused(t *testing.T) {
	f := bind(t, File{Write: func([]byte) error { return nil }})
	if _, err := f.OpenFile("/proc/x", os.O_RDONLY); !errors.Is(err, syscall.EACCES) {
		t.Errorf("got %v", err)
	}
}

func TestContentIsThatOfTheOpening(t *testing.T) {
	n := 0
	f := bind(t, Print(func(w io.Writer) { n++; fmt.Fprintf(w, "opened %d times\n", n) }))
	a, _ := f.OpenFile("/proc/x", os.O_RDONLY)
	one := make([]byte, 7)
	vfs.Read(a, one, nil)
	b, _ := f.ReadFile("proc/x")
	rest, _ := io.ReadAll(a)
	if string(one)+string(rest) != "opened 1 times\n" || string(b) != "opened 2 times\n" {
		t.Errorf("got %q%q and %q", one, rest, b)
	}
}

func TestWriteArrivesWholeWithoutItsNewline(t *testing.T) {
	var got []string
	f := bind(t, File{Write: func(p []byte) error {
		if string(p) == "bad" {
			return fmt.Errorf("no: %w", syscall.EINVAL)
		}
		got = append(got, string(p))
		return nil
	}})
	w, err := f.OpenFile("/proc/x", os.O_WRONLY|os.O_TRUNC|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"1\n", "two words", "a\nb\n"} {
		if n, err := vfs.Write(w, []byte(s), nil); n != len(s) || err != nil {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	}
	if fmt.Sprintf("%q", got) != `["1" "two words" "a\nb"]` {
		t.Errorf("got %q", got)
	}
	if _, err := vfs.Write(w, []byte("bad\n"), nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v", err)
	}
}

func TestDynamicDirectoryIsAnFS(t *testing.T) {
	f := bind(t, Dir{
		List: func() []string { return []string{"b", "a"} },
		Node: func(name string) vfs.Node {
			if name != "a" && name != "b" {
				return nil
			}
			return Text(func() string { return name })
		},
	})
	if err := fstest.TestFS(f, "proc/x/a", "proc/x/b"); err != nil {
		t.Error(err)
	}
	if _, err := f.OpenFile("/proc/x/c", os.O_WRONLY|os.O_CREATE); !errors.Is(err, syscall.EACCES) {
		t.Errorf("create in a dynamic directory: %v", err)
	}
}

// TestProgramsSeeAnotherFile: a Viewed file has a text for the kernel, and one for callers with a viewer.
func TestProgramsSeeAnotherFile(t *testing.T) {
	f := bind(t, Viewed{File: Text(func() string { return "ours" }), Programs: Text(func() string { return "theirs" })})
	for want, place := range map[string]*vfs.Place{"ours": f.RootPlace(), "theirs": f.RootPlace().For(t)} {
		file, err := f.OpenAt(place, "proc/x", os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 10)
		n, err := vfs.Read(file, b, nil)
		if err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v; want %q", b[:n], err, want)
		}
		vfs.Close(file)
	}
}
