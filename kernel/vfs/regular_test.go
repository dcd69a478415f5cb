package vfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"syscall"
	"testing"
)

// TestContentsAgreeWithPlainBytes does at random what can be done to a file, and
// the same to a slice.
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
		h.Close() // it has no name
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
	a.SetLimit((used + 2) * pageSize)
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
	if err := f.Truncate(maxFile + 1); !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
}

// TestNothingIsWrittenFarAway: writing no bytes far beyond the largest file panicked,
// and the file stayed locked.
func TestNothingIsWrittenFarAway(t *testing.T) {
	h, err := New().newRegular(0644).Open(O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, maxFile, maxFile + 1, 1<<63 - 1} {
		if n, err := h.WriteAt(nil, off); n != 0 || err != nil {
			t.Errorf("at %#x: %d, %v", off, n, err)
		}
		if n, err := h.ReadAt(make([]byte, 1), off); n != 0 || err != io.EOF {
			t.Errorf("the file at %#x: %d, %v", off, n, err)
		}
	}
}
