package initramfs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/cpio"
)

var sample = []cpio.Entry{
	{Name: ".", Mode: cpio.Dir | 0700},
	{Name: "bin", Mode: cpio.Symlink | 0777, Data: []byte("usr/bin")},
	{Name: "usr/bin", Ino: 3, Mode: cpio.Dir | 0711, Time: 5},
	{Name: "bin/sh", Ino: 4, Mode: cpio.Regular | 0755, Links: 3, Time: 7, UID: 9},
	{Name: "./usr/bin/ash", Ino: 4, Mode: cpio.Regular | 0755, Links: 3, Time: 7, UID: 9, Data: []byte("shell")},
	{Name: "/usr/bin/bash", Ino: 4, Mode: cpio.Regular | 0755, Links: 3, Time: 7, UID: 9},
	{Name: "tmp", Ino: 5, Mode: cpio.Dir | 0700},
	{Name: "tmp/deep/er/file", Ino: 6, Mode: cpio.Regular | 0600, Data: []byte("x")},
	{Name: "dev/null", Ino: 7, Mode: 0o020666},
}

func archive(t testing.TB, list ...cpio.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := cpio.NewWriter(&b)
	for _, e := range list {
		w.Add(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// newTree is a tree as boot leaves it before unpacking.
func newTree(t *testing.T) *vfs.FS {
	t.Helper()
	f := vfs.New()
	if err := f.MkdirAll("/tmp", fs.ModeSticky|0777); err != nil {
		t.Fatal(err)
	}
	return f
}

func stat(t *testing.T, f *vfs.FS, name string) vfs.Info {
	t.Helper()
	i, err := f.StatAt(f.RootPlace(), name, false)
	if err != nil {
		t.Error(err)
	}
	return i
}

func TestFilesAreAsInTheArchive(t *testing.T) {
	f := newTree(t)
	r, err := Unpack(f, archive(t, sample...))
	if err != nil || r.Files != 6 || r.Bytes != 6 || !slices.Equal(r.Skipped, []string{"/dev/null"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for name, want := range map[string]string{"bin/sh": "shell", "usr/bin/ash": "shell", "usr/bin/bash": "shell", "tmp/deep/er/file": "x"} {
		if got, err := f.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	sh, bash := stat(t, f, "/usr/bin/sh"), stat(t, f, "/usr/bin/bash")
	if sh.Ino != bash.Ino || sh.Links != 3 || sh.Mode != 0755 || sh.UID != 9 || sh.ModTime.Unix() != 7 {
		t.Errorf("%+v", sh)
	}
	if d := stat(t, f, "/usr/bin"); d.Mode != fs.ModeDir|0711 || d.ModTime.Unix() != 5 {
		t.Errorf("%+v", d)
	}
	if d := stat(t, f, "/tmp"); d.Mode.Perm() != 0777 {
		t.Errorf("a directory that was there has changed: %v", d.Mode)
	}
}

func TestArchivesFollowEachOther(t *testing.T) {
	one := archive(t, cpio.Entry{Name: "a", Mode: cpio.Regular, Data: []byte("1")}, cpio.Entry{Name: "b", Mode: cpio.Regular, Data: []byte("1")})
	two := archive(t, cpio.Entry{Name: "b", Mode: cpio.Regular, Data: []byte("2")})
	zeroes := make([]byte, 512)
	for name, data := range map[string][]byte{
		"plain":              slices.Concat(one, two),
		"zeroes between":     slices.Concat(one, zeroes, two, zeroes),
		"compressed":         compressed(slices.Concat(one, zeroes, two)),
		"one compressed":     slices.Concat(compressed(one), two),
		"the other":          slices.Concat(one, zeroes, compressed(two)),
		"several compressed": slices.Concat(compressed(one), compressed(two), zeroes),
	} {
		f := newTree(t)
		if _, err := Unpack(f, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		a, _ := f.ReadFile("a")
		b, _ := f.ReadFile("b")
		if string(a) != "1" || string(b) != "2" {
			t.Errorf("%s: %q %q", name, a, b)
		}
	}
}

// TestArchivesNumberFilesByThemselves: that a file of one archive has the number of another one's is a coincidence.
func TestArchivesNumberFilesByThemselves(t *testing.T) {
	linked := func(name, data string) cpio.Entry {
		return cpio.Entry{Name: name, Ino: 721, Mode: cpio.Regular | 0644, Links: 2, Data: []byte(data)}
	}
	first := archive(t, linked("a", "first"), linked("b", ""))
	second := archive(t, linked("c", "second"), linked("d", ""))
	for _, data := range [][]byte{append(first, second...), compressed(append(first, second...)), append(compressed(first), compressed(second)...)} {
		f := newTree(t)
		if _, err := Unpack(f, data); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"a": "first", "b": "first", "c": "second", "d": "second"} {
			if got, err := f.ReadFile(name); string(got) != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
	}
}

// TestCompressedInCompressed: such data could continue for ever, since some data is its own archive.
func TestCompressedInCompressed(t *testing.T) {
	if _, err := Unpack(newTree(t), compressed(compressed(archive(t, sample...)))); !errors.Is(err, cpio.ErrFormat) {
		t.Errorf("%v, want ErrFormat", err)
	}
}

func TestContentsAreNotCopiedAndNotChanged(t *testing.T) {
	f := newTree(t)
	data := archive(t, cpio.Entry{Name: "x", Mode: cpio.Regular, Data: []byte("original")})
	before := bytes.Clone(data)
	_, names := f.Usage()
	if _, err := Unpack(f, data); err != nil {
		t.Fatal(err)
	}
	if _, used := f.Usage(); used != names+1 {
		t.Errorf("unpacking took %d pages, want one for the name", used-names)
	}
	w, err := f.OpenFile("/x", vfs.O_RDWR|vfs.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("+more"))
	if got, _ := f.ReadFile("x"); string(got) != "original+more" {
		t.Errorf("%q", got)
	}
	if !bytes.Equal(data, before) {
		t.Error("the archive has changed")
	}
}

func TestCorruptArchiveChangesNothing(t *testing.T) {
	good := archive(t, sample...)
	bomb := archive(t, cpio.Entry{Name: "x", Mode: cpio.Regular, Data: make([]byte, 1<<20)})
	for name, data := range map[string][]byte{
		"second is cut":     slices.Concat(good, good[:200]),
		"behind it garbage": append(bytes.Clone(good), "garbage"...),
		"cut gzip":          compressed(good)[:100],
		"gzip of garbage":   compressed([]byte("garbage")),
		"gzip of a cut one": compressed(bomb[:1000]),
	} {
		f := newTree(t)
		_, err := Unpack(f, data)
		if err == nil || !strings.HasPrefix(err.Error(), "initramfs: ") {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := f.ReadDir("."); len(got) != 1 {
			t.Errorf("%s: left %v", name, got)
		}
	}
}

func TestNamesStayInTheTree(t *testing.T) {
	f := newTree(t)
	if _, err := Unpack(f, archive(t, cpio.Entry{Name: "../../etc/x", Mode: cpio.Regular})); err != nil {
		t.Fatal(err)
	}
	stat(t, f, "/etc/x")
	if err := f.MkdirAll("/proc/sys", 0555); err != nil {
		t.Fatal(err)
	}
	for _, e := range []cpio.Entry{
		{Name: "proc/sys", Mode: cpio.Regular}, {Name: "proc/new", Mode: cpio.Regular}, {Name: "etc/x/y", Mode: cpio.Regular},
		{Name: "tmp", Mode: cpio.Regular}, {Name: "link", Mode: cpio.Symlink},
	} {
		if _, err := Unpack(f, archive(t, e)); err == nil {
			t.Errorf("%s: no error", e.Name)
		}
	}
	if _, err := Unpack(f, archive(t, cpio.Entry{Name: "proc/new", Mode: cpio.Regular})); !errors.Is(err, syscall.EACCES) {
		t.Error(err)
	}
}

// TestGzipTakesTheMemoryOnce: the buffer for the unpacked data must not be reallocated while it
// grows.
func TestGzipTakesTheMemoryOnce(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 30) // two random bits in a byte: it shrinks to a quarter
	}
	data := compressed(archive(t, cpio.Entry{Name: "noise", Mode: cpio.Regular | 0644, Data: noise}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Unpack(newTree(t), data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(noise))*3/2 {
		t.Errorf("%d bytes took %d of memory", len(noise), took)
	}
}
