package vfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strconv"
	"syscall"
	"testing"
)

// TestContentsAgreeWithPlainBytes makes the same random changes to a file and to a slice, and
// compares them.
func TestContentsAgreeWithPlainBytes(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 100 {
		f := New()
		base := make([]byte, rnd.Intn(5*pageSize))
		rnd.Read(base)
		r := f.newRegular(0644)
		r.pages.base, r.size = base, int64(len(base))
		model := bytes.Clone(base)
		h, err := r.Open(O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			off := rnd.Intn(8 * pageSize)
			p := make([]byte, rnd.Intn(3*pageSize))
			switch rnd.Intn(4) {
			case 0:
				rnd.Read(p)
				if n, err := h.WriteAt(p, int64(off)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
				if len(p) > 0 {
					model = grown(model, off+len(p))
					copy(model[off:], p)
				}
			case 1:
				if err := r.SetSize(int64(off)); err != nil {
					t.Fatal(err)
				}
				model = grown(model, off)[:off]
			case 2:
				rnd.Read(p)
				_, end, err := h.(Appender).Append(p)
				model = append(model, p...)
				if err != nil || end != int64(len(model)) {
					t.Fatal(end, err)
				}
			}
			got, err := io.ReadAll(io.NewSectionReader(h, 0, 1<<40))
			if err != nil || !bytes.Equal(got, model) {
				t.Fatalf("%d bytes, want %d, or others (%v)", len(got), len(model), err)
			}
		}
		h.Close() // the file has no name
		if _, used := f.Usage(); used != 0 {
			t.Fatalf("%d pages left", used)
		}
	}
}

func grown(b []byte, size int) []byte {
	if size > len(b) {
		b = append(b, make([]byte, size-len(b))...)
	}
	return b
}

func TestPagesGoWithTheLastNameAndUser(t *testing.T) {
	a := newAt(t)
	_, before := a.Usage()
	a.put("x", string(make([]byte, 3*pageSize)))
	open := Opened()
	f, err := a.OpenAt(a.cwd, "x", O_RDONLY, 0)
	a.must(err)
	if Opened() != open+1 {
		t.Errorf("%d files are open, want %d", Opened(), open+1)
	}
	a.must(a.LinkAt(a.cwd, "x", a.cwd, "y", true))
	a.must(a.UnlinkAt(a.cwd, "x"))
	a.must(a.UnlinkAt(a.cwd, "y"))
	if _, used := a.Usage(); used != before+3 {
		t.Errorf("open, it has %d pages, want 3", used-before)
	}
	f.Hold()
	a.must(f.Close())
	if _, used := a.Usage(); used != before+3 {
		t.Error("the second descriptor's contents are gone")
	}
	a.put("z", "z")
	a.must(a.UnlinkAt(a.cwd, "z")) // nobody has it open
	a.must(f.Close())
	if _, used := a.Usage(); used != before || Opened() != open {
		t.Errorf("%d pages and %d files left", used-before, Opened()-open)
	}
}

func TestFullTreeIsENOSPC(t *testing.T) {
	a := newAt(t)
	_, used := a.Usage()
	a.SetLimit((used + 3) * pageSize) // one for the name
	f, err := a.OpenAt(a.cwd, "big", O_RDWR|O_CREAT, 0600)
	a.must(err)
	if n, err := f.Write(make([]byte, 4*pageSize)); n != 2*pageSize || err != nil {
		t.Errorf("what fits: %d, %v", n, err)
	}
	if n, err := f.Write([]byte("x")); n != 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("then: %d, %v", n, err)
	}
	a.must(f.Truncate(pageSize))
	if n, err := f.WriteAt([]byte("x"), 5*pageSize); n != 1 || err != nil {
		t.Errorf("after truncating: %d, %v", n, err)
	}
}

// TestTablesAndNamesCount: without these counts, programs could make the kernel use any amount of
// memory with empty files, or with single bytes far apart.
func TestTablesAndNamesCount(t *testing.T) {
	f := New()
	_, start := f.Usage()
	f.SetLimit((start + 1000) * pageSize)
	made := 0
	for ; made < 5000; made++ {
		if err := f.MakeFileAt(f.RootPlace(), "/"+strconv.Itoa(made), 0600); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			break
		}
	}
	if made != 1000 {
		t.Errorf("%d empty files where there is room for 1000 pages", made)
	}
	for i := range made {
		if err := f.UnlinkAt(f.RootPlace(), "/"+strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int64{3, 3 + 63 + 2, 3 + 63 + 4} {
		sparse, err := f.OpenFile("/sparse", O_CREAT|O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		off := []int64{pageSize, MaxFile - 2<<20, MaxFile - 6<<20}[i]
		sparse.WriteAt([]byte("x"), off)
		if i == 0 {
			sparse.WriteAt([]byte("x"), 0)
		}
		if _, used := f.Usage(); used != start+want {
			t.Errorf("a byte at %#x: %d pages, want %d", off, used-start, want)
		}
	}
	sparse, _ := f.OpenFile("/sparse", O_CREAT|O_RDWR)
	sparse.Truncate(1)
	if _, used := f.Usage(); used != start+2 {
		t.Errorf("shortened: %d pages", used-start)
	}
	if err := f.Remove("/sparse"); err != nil {
		t.Error(err)
	}
	if _, used := f.Usage(); used != start+1 {
		t.Errorf("removed but open: %d pages", used-start)
	}
}

func TestPositionsAreSharedByDescriptorsOfOneFile(t *testing.T) {
	a := newAt(t)
	f, err := a.OpenAt(a.cwd, "file", O_RDWR|O_APPEND, 0)
	a.must(err)
	b := make([]byte, 2)
	f.Read(b)
	if n, err := f.ReadAt(b, 3); n != 1 || err != io.EOF {
		t.Errorf("pread at the end: %d, %v", n, err)
	}
	f.Write([]byte("+"))
	if at, _ := f.Seek(0, io.SeekCurrent); at != 5 {
		t.Errorf("after an append it stands at %d", at)
	}
	f.SetFlags(0)
	f.Seek(-5, io.SeekEnd)
	f.Write([]byte("T"))
	if got := a.get("file"); got != "Text+" {
		t.Error(got)
	}
	for _, c := range []struct {
		off    int64
		whence int
	}{{-1, io.SeekStart}, {-6, io.SeekEnd}, {0, 9}} {
		if _, err := f.Seek(c.off, c.whence); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := f.Truncate(MaxFile + 1); !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
}

// TestNothingIsWrittenFarAway: writing no bytes far beyond the largest file panicked, and left the
// file locked.
func TestNothingIsWrittenFarAway(t *testing.T) {
	h, err := New().newRegular(0644).Open(O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, MaxFile, MaxFile + 1, 1<<63 - 1} {
		if n, err := h.WriteAt(nil, off); n != 0 || err != nil {
			t.Errorf("at %#x: %d, %v", off, n, err)
		}
		if n, err := h.ReadAt(make([]byte, 1), off); n != 0 || err != io.EOF {
			t.Errorf("the file at %#x: %d, %v", off, n, err)
		}
	}
}
