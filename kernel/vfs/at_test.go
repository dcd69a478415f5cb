package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"
)

// at is a tree with a current directory, as a program has.
type at struct {
	*FS
	t   *testing.T
	cwd *Place
}

// newAt makes /a/{file,dir/,loop,link,away}; the current directory is /a.
func newAt(t *testing.T) *at {
	t.Helper()
	f := newRoot()
	a := &at{f, t, f.RootPlace()}
	a.must(f.MkdirAt(a.cwd, "a", 0755))
	var err error
	a.cwd, err = f.PlaceAt(a.cwd, "/a", true, true)
	a.must(err)
	a.must(f.MkdirAt(a.cwd, "dir", 0755))
	a.put("file", "text")
	a.put("dir/below", "deep")
	a.must(f.SymlinkAt("loop", a.cwd, "loop"))
	a.must(f.SymlinkAt("dir/../file", a.cwd, "link"))
	a.must(f.SymlinkAt("/a/nothing", a.cwd, "away"))
	return a
}

func (a *at) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *at) put(name, text string) {
	a.t.Helper()
	f, err := a.OpenAt(a.cwd, name, O_WRONLY|O_CREAT|O_TRUNC, 0600)
	a.must(err)
	_, err = f.Write([]byte(text))
	a.must(err)
	a.must(f.Close())
}

func (a *at) get(name string) string {
	a.t.Helper()
	f, err := a.OpenAt(a.cwd, name, O_RDONLY, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	b := make([]byte, 100)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

func (a *at) ino(name string) uint64 {
	a.t.Helper()
	i, err := a.StatAt(a.cwd, name, false)
	a.must(err)
	return i.Ino
}

func TestPathsLeadWhereTheyShould(t *testing.T) {
	a := newAt(t)
	for path, want := range map[string]string{
		"file": "text", "./file": "text", "/a/file": "text", "../a/./file": "text", "dir/../file": "text",
		"../../../a/file": "text", "link": "text", "dir//below": "deep", "/a/dir/below": "deep",
	} {
		if got := a.get(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	long := strings.Repeat("x", 256)
	for path, want := range map[string]error{
		"": syscall.ENOENT, "none": syscall.ENOENT, "none/x": syscall.ENOENT, "file/x": syscall.ENOTDIR, "file/": syscall.ENOTDIR,
		"file/.": syscall.ENOTDIR, "link/": syscall.ENOTDIR, "loop": syscall.ELOOP, "loop/x": syscall.ELOOP, "away": syscall.ENOENT,
		long: syscall.ENAMETOOLONG, strings.Repeat("./", 2100): syscall.ENAMETOOLONG, "dir/../none/..": syscall.ENOENT,
	} {
		if _, err := a.OpenAt(a.cwd, path, O_RDONLY, 0); !errors.Is(err, want) {
			t.Errorf("%.20s: %v, want %v", path, err, want)
		}
	}
}

func TestLinksAreFollowedSoFar(t *testing.T) {
	a := newAt(t)
	a.must(a.SymlinkAt("dir", a.cwd, "d"))
	if i, err := a.StatAt(a.cwd, "d/below", false); err != nil || i.Mode.IsDir() {
		t.Errorf("a link on the way: %+v, %v", i, err)
	}
	if i, err := a.StatAt(a.cwd, "d/", false); err != nil || !i.Mode.IsDir() {
		t.Errorf("a link with a slash behind it: %+v, %v", i, err)
	}
	a.must(a.SymlinkAt("file", a.cwd, "l1"))
	for i := 1; i <= maxLinks; i++ {
		a.must(a.SymlinkAt(fmt.Sprintf("l%d", i), a.cwd, fmt.Sprintf("l%d", i+1)))
	}
	if got := a.get(fmt.Sprintf("l%d", maxLinks)); got != "text" {
		t.Errorf("%d links: %s", maxLinks, got)
	}
	if _, err := a.OpenAt(a.cwd, fmt.Sprintf("l%d", maxLinks+1), O_RDONLY, 0); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("one more: %v", err)
	}
}

func TestOpenFlags(t *testing.T) {
	for _, tt := range []struct {
		path string
		flag int
		want error // nil: it opens
	}{
		{"new", O_CREAT | O_WRONLY, nil},
		{"file", O_CREAT | O_EXCL | O_WRONLY, syscall.EEXIST},
		{"away", O_CREAT | O_EXCL | O_WRONLY, syscall.EEXIST},
		{"away", O_CREAT | O_WRONLY, nil}, // makes the link's target
		{"new/", O_CREAT | O_WRONLY, syscall.EISDIR},
		{"dir", O_CREAT | O_RDONLY, syscall.EISDIR},
		{"dir", O_RDWR, syscall.EISDIR},
		{"dir", O_DIRECTORY, nil},
		{"file", O_DIRECTORY, syscall.ENOTDIR},
		{"link", O_NOFOLLOW, syscall.ELOOP},
		{"link", O_NOFOLLOW | O_PATH, nil},
		{"file", O_NOFOLLOW, nil},
		{"none/new", O_CREAT | O_WRONLY, syscall.ENOENT},
		{"file/new", O_CREAT | O_WRONLY, syscall.ENOTDIR},
	} {
		a := newAt(t)
		f, err := a.OpenAt(a.cwd, tt.path, tt.flag, 0640)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s %o: %v, want %v", tt.path, tt.flag, err, tt.want)
		}
		if err == nil && tt.path == "away" {
			if p, _ := f.Place().Path(); p != "/a/nothing" || f.Info().Mode != 0640 {
				t.Errorf("made %s %v", p, f.Info().Mode)
			}
		}
	}
}

func TestLinksAreCounted(t *testing.T) {
	a := newAt(t)
	a.must(a.LinkAt(a.cwd, "file", a.cwd, "dir/other", true))
	i, err := a.StatAt(a.cwd, "dir/other", true)
	if err != nil || i.Links != 2 || i.Ino != a.ino("file") {
		t.Errorf("%+v, %v", i, err)
	}
	a.must(a.UnlinkAt(a.cwd, "file"))
	if i, _ := a.StatAt(a.cwd, "dir/other", true); i.Links != 1 || a.get("dir/other") != "text" {
		t.Errorf("%+v %q", i, a.get("dir/other"))
	}
	p, err := a.PlaceAt(a.cwd, "dir/other", true, false)
	a.must(err)
	a.must(a.UnlinkAt(a.cwd, "dir/other"))
	if _, err := p.again(); err != syscall.ENOENT {
		t.Errorf("a file without names gets one: %v", err)
	}
	if err := a.LinkAt(a.cwd, "dir", a.cwd, "dir2", true); !errors.Is(err, syscall.EPERM) {
		t.Errorf("link of a directory: %v", err)
	}
	for path, want := range map[string]uint64{"/": 2 + 2, "/a": 2 + 1, "/a/dir": 2} {
		if i, _ := a.StatAt(a.cwd, path, true); i.Links != want {
			t.Errorf("%s has %d links, want %d", path, i.Links, want)
		}
	}
}

func TestRemovals(t *testing.T) {
	a := newAt(t)
	a.must(a.Bind("/proc/x", ctlNode{}))
	for _, tt := range []struct {
		what string
		err  error
		want error
	}{
		{"unlink a directory", a.UnlinkAt(a.cwd, "dir"), syscall.EISDIR},
		{"rmdir of a file", a.RmdirAt(a.cwd, "file"), syscall.ENOTDIR},
		{"rmdir of a link", a.RmdirAt(a.cwd, "link"), syscall.ENOTDIR},
		{"unlink with a slash", a.UnlinkAt(a.cwd, "file/"), syscall.ENOTDIR},
		{"full", a.RmdirAt(a.cwd, "dir"), syscall.ENOTEMPTY},
		{"dot", a.RmdirAt(a.cwd, "dir/."), syscall.EINVAL},
		{"dot dot", a.RmdirAt(a.cwd, "dir/.."), syscall.ENOTEMPTY},
		{"root", a.RmdirAt(a.cwd, "/"), syscall.EBUSY},
		{"nothing", a.UnlinkAt(a.cwd, "none"), syscall.ENOENT},
		{"bound", a.UnlinkAt(a.cwd, "/proc/x"), syscall.EACCES},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.err, tt.want)
		}
	}
	a.must(a.UnlinkAt(a.cwd, "link")) // not its target
	if a.get("file") != "text" {
		t.Error("unlink followed the link")
	}
}

type ctlNode struct{}

func (ctlNode) Stat() Info { return Info{Mode: 0444} }

func TestRemovedDirectoryIsDead(t *testing.T) {
	a := newAt(t)
	p, err := a.PlaceAt(a.cwd, "dir", true, true)
	a.must(err)
	d, err := a.OpenAt(p, ".", O_DIRECTORY, 0)
	a.must(err)
	a.must(a.UnlinkAt(a.cwd, "dir/below"))
	a.must(a.RmdirAt(a.cwd, "dir"))
	if _, err := p.Path(); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("its path: %v", err)
	}
	if _, err := a.OpenAt(p, "new", O_CREAT|O_WRONLY, 0); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a file in it: %v", err)
	}
	if err := d.ReadDirents(func(Dirent) bool { return true }); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("reading it: %v", err)
	}
	if i, err := a.StatAt(p, "..", true); err != nil || i.Ino != a.ino("/a") {
		t.Errorf("what is above it: %v", err)
	}
}

func TestRenames(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		how      Renaming
		want     error
	}{
		{"file", "new", Replace, nil},
		{"file", "dir/new", Replace, nil},
		{"file", "link", Replace, nil}, // replaces the link itself
		{"dir", "/d2", Replace, nil},
		{"dir/", "/d2/", Replace, nil},
		{"file", "link", NoReplace, syscall.EEXIST},
		{"file", "file", Replace, nil},
		{"file", "dir", Replace, syscall.EISDIR},
		{"dir", "file", Replace, syscall.ENOTDIR},
		{"dir", "dir/in", Replace, syscall.EINVAL},
		{"/a", "/a/dir/in", Replace, syscall.EINVAL},
		{"file/", "new", Replace, syscall.ENOTDIR},
		{"none", "new", Replace, syscall.ENOENT},
		{"file", "none/new", Replace, syscall.ENOENT},
		{"file", "/", Replace, syscall.EBUSY},
		{"dir/.", "new", Replace, syscall.EBUSY},
		{"file", "dir/..", NoReplace, syscall.EEXIST},
		{"/tmp", "/a/dir", Replace, syscall.ENOTEMPTY},
	} {
		a := newAt(t)
		ino := uint64(0)
		if i, err := a.StatAt(a.cwd, tt.from, false); err == nil {
			ino = i.Ino
		}
		err := a.RenameAt(a.cwd, tt.from, a.cwd, tt.to, tt.how)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s to %s: %v, want %v", tt.from, tt.to, err, tt.want)
		}
		switch _, gone := a.StatAt(a.cwd, strings.TrimSuffix(tt.from, "/"), false); {
		case err != nil:
			if ino != 0 && a.ino(strings.TrimSuffix(tt.from, "/")) != ino {
				t.Errorf("%s to %s failed and changed something", tt.from, tt.to)
			}
		case a.ino(strings.TrimSuffix(tt.to, "/")) != ino || gone == nil && tt.from != tt.to:
			t.Errorf("%s to %s: not moved, or still there", tt.from, tt.to)
		}
	}
}

func TestPathFollowsRenames(t *testing.T) {
	a := newAt(t)
	below, err := a.PlaceAt(a.cwd, "dir/below", true, false)
	a.must(err)
	a.must(a.RenameAt(a.cwd, "dir", a.cwd, "/moved", Replace))
	if p, err := below.Path(); p != "/moved/below" || err != nil {
		t.Errorf("%s, %v", p, err)
	}
	a.must(a.RenameAt(a.cwd, "/a", a.cwd, "/b", Replace))
	if p, _ := a.cwd.Path(); p != "/b" {
		t.Errorf("the current directory is %s", p)
	}
	a.must(a.UnlinkAt(a.cwd, "/moved/below"))
	if got := below.Describe(); got != "/moved/below (deleted)" {
		t.Error(got)
	}
	for path, want := range map[string]uint64{"/": 2 + 3, "/b": 2, "/moved": 2} {
		if i, _ := a.StatAt(a.cwd, path, true); i.Links != want {
			t.Errorf("%s has %d links, want %d", path, i.Links, want)
		}
	}
}

// TestEntriesOfOpenDirectories: they have a limit, and count until the directory is closed or read again.
func TestEntriesOfOpenDirectories(t *testing.T) {
	f := newRoot()
	a := &at{f, t, f.RootPlace()}
	a.must(f.MkdirAll("/many", 0777))
	const each = 1000
	for i := range each - 2 { // and . and ..
		a.must(f.MkdirAll(fmt.Sprintf("/many/%d", i), 0777))
	}
	before := listed.Load()
	var open []*File
	for range mostListed/each + 1 {
		d, err := f.OpenFile("/many", O_RDONLY)
		a.must(err)
		open = append(open, d)
	}
	last := open[len(open)-1]
	read := func(d *File) error { return d.ReadDirents(func(Dirent) bool { return false }) }
	for range 2 {
		for _, d := range open[:len(open)-1] {
			a.must(read(d))
		}
		if err := read(last); !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("%d directories of %d entries are open: %v", len(open), each, err)
		}
		_, err := open[0].Seek(0, io.SeekStart)
		a.must(err)
		a.must(read(last))
		_, err = last.Seek(0, io.SeekStart)
		a.must(err)
	}
	for _, d := range open {
		a.must(d.Close())
		if err := d.ReadDirents(func(Dirent) bool { return false }); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if n := listed.Load() - before; n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

func TestReadDirentsGoesOnWhereItStopped(t *testing.T) {
	a := newAt(t)
	d, err := a.OpenAt(a.cwd, ".", O_DIRECTORY, 0)
	a.must(err)
	var got []string
	for range 10 {
		n := 0
		a.must(d.ReadDirents(func(e Dirent) bool {
			if n++; n > 3 {
				return false
			}
			got = append(got, fmt.Sprintf("%s:%o", e.Name, TypeBits(e.Mode)>>12))
			return true
		}))
	}
	if s := strings.Join(got, " "); s != ".:4 ..:4 away:12 dir:4 file:10 link:12 loop:12" {
		t.Error(s)
	}
	a.put("late", "")
	d.Seek(0, 0)
	n := 0
	d.ReadDirents(func(e Dirent) bool { n++; return true })
	if n != 8 {
		t.Errorf("%d entries after rewinding", n)
	}
}

func TestAttributesCanBeSet(t *testing.T) {
	a := newAt(t)
	then := time.Unix(1e9, 5)
	a.must(a.ChangeAt("chmod", a.cwd, "file", true, func(c Changer) { c.SetMode(Perm(0o4751)) }))
	a.must(a.ChangeAt("chown", a.cwd, "file", true, func(c Changer) { c.SetOwner(7, Keep) }))
	a.must(a.ChangeAt("utimes", a.cwd, "file", true, func(c Changer) { c.SetTimes(time.Time{}, then) }))
	i, err := a.StatAt(a.cwd, "link", true)
	if err != nil || i.ModeBits() != 0o100751 || i.UID != 7 || i.GID != 0 || !i.ModTime.Equal(then) || i.AccTime.Equal(then) {
		t.Errorf("%+v %o, %v", i, i.ModeBits(), err)
	}
	if i, _ := a.StatAt(a.cwd, "link", false); i.Mode != fs.ModeSymlink|0777 || i.Size != 11 {
		t.Errorf("the link itself: %+v", i)
	}
	a.must(a.ChangeAt("chmod", a.cwd, "file", true, func(c Changer) { c.SetMode(0) }))
	if a.get("file") != "text" {
		t.Error("root reads what it likes")
	}
}
