package vfs

import (
	"errors"
	"syscall"
	"testing"
)

func TestExchange(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     error
	}{
		{"file", "link", nil},
		{"file", "dir", nil},
		{"file", "/tmp", syscall.EINVAL}, // the file is in that directory
		{"dir/below", "file", nil},
		{"dir/", "file", nil},
		{"file", "file", nil},
		{"file/", "dir", syscall.ENOTDIR},
		{"dir", "file/", syscall.ENOTDIR},
		{"file", "none", syscall.ENOENT},
		{"none", "file", syscall.ENOENT},
		{"dir", "dir/below", syscall.EINVAL},
		{"dir/below", "dir", syscall.EINVAL},
		{"file", "/", syscall.EBUSY},
	} {
		a := newAt(t)
		if tt.to == "/tmp" {
			a.must(a.MkdirAt(a.cwd, "/tmp2", 0755))
			a.must(a.RenameAt(a.cwd, "/a", a.cwd, "/tmp2/a", Replace))
			tt.to = "/tmp2"
		}
		from, _ := a.StatAt(a.cwd, tt.from, false)
		to, _ := a.StatAt(a.cwd, tt.to, false)
		err := a.RenameAt(a.cwd, tt.from, a.cwd, tt.to, Exchange)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s and %s: %v, want %v", tt.from, tt.to, err, tt.want)
		}
		if err == nil {
			from, to = to, from
		}
		now, _ := a.StatAt(a.cwd, trim(tt.from), false)
		if now.Ino != from.Ino && from.Ino != 0 {
			t.Errorf("%s and %s: the first is %d, want %d", tt.from, tt.to, now.Ino, from.Ino)
		}
		if now, _ := a.StatAt(a.cwd, trim(tt.to), false); now.Ino != to.Ino && to.Ino != 0 {
			t.Errorf("%s and %s: the second is %d, want %d", tt.from, tt.to, now.Ino, to.Ino)
		}
	}
}

func trim(path string) string {
	if path != "/" && path[len(path)-1] == '/' {
		return path[:len(path)-1]
	}
	return path
}

// TestExchangeCountsLinks: link counts and ".." must follow directories that change places.
func TestExchangeCountsLinks(t *testing.T) {
	a := newAt(t)
	a.must(a.MkdirAt(a.cwd, "/one", 0755))
	a.must(a.MkdirAt(a.cwd, "/one/sub", 0755))
	a.must(a.MkdirAt(a.cwd, "/two", 0755))
	a.must(a.MakeFileAt(a.cwd, "/two/file", 0644))
	a.must(a.RenameAt(a.cwd, "/one/sub", a.cwd, "/two/file", Exchange))
	for path, want := range map[string]uint64{"/one": 2, "/two": 3, "/two/file": 2, "/one/sub": 1} {
		if i, err := a.StatAt(a.cwd, path, false); err != nil || i.Links != want {
			t.Errorf("%s has %d links, want %d (%v)", path, i.Links, want, err)
		}
	}
	p, err := a.PlaceAt(a.cwd, "/two/file", true, true)
	a.must(err)
	if path, _ := p.Path(); path != "/two/file" {
		t.Error(path)
	}
	if above := p.above(); above.ino != a.ino("/two") {
		t.Error("the wrong directory is above it")
	}
}

func TestHoles(t *testing.T) {
	tree := New()
	tree.SetLimit(1 << 30)
	if err := tree.ProvideAt(tree.RootPlace(), "based", 0644, make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	f, err := tree.OpenFile("/based", O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("x"), 3*chunkSize+9*pageSize)
	f.Truncate(3*chunkSize + 20*pageSize + 5)
	const end = 3*chunkSize + 20*pageSize + 5
	for _, tt := range []struct {
		off    int64
		whence int
		want   int64
		err    error
	}{
		{0, 3, 0, nil}, {0, 4, 8192, nil}, {4999, 3, 4999, nil}, {8192, 3, 3*chunkSize + 9*pageSize, nil},
		{3*chunkSize + 9*pageSize + 7, 3, 3*chunkSize + 9*pageSize + 7, nil}, {3*chunkSize + 9*pageSize, 4, 3*chunkSize + 10*pageSize, nil},
		{3*chunkSize + 10*pageSize, 3, 0, syscall.ENXIO}, {end - 1, 4, end - 1, nil}, {end, 4, 0, syscall.ENXIO}, {end, 3, 0, syscall.ENXIO},
		{-1, 3, 0, syscall.ENXIO}, {1 << 62, 4, 0, syscall.ENXIO}, {0, 5, 0, syscall.EINVAL},
	} {
		got, err := f.Seek(tt.off, tt.whence)
		if got != tt.want || !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%d from %d: %d, %v; want %d, %v", tt.whence, tt.off, got, err, tt.want, tt.err)
		}
	}
	f.WriteAt([]byte("x"), end-1)
	if got, err := f.Seek(end-3, 4); got != end || err != nil {
		t.Errorf("the end is a hole: %d, %v", got, err)
	}
	Close(f)
}
