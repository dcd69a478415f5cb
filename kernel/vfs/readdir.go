package vfs

import (
	"io"
	"io/fs"
	"slices"
	"syscall"

	"sonde/kernel/abi"
)

// Dirent is an entry of a directory, as getdents returns it.
type Dirent struct {
	Name string
	Ino  uint64
	Mode fs.FileMode // only the type
	Next int64       // the position after the entry
}

// list returns the entries of a directory sorted by name, "." and ".." first. A name that is
// removed before it is looked up is left out.
func (p *Place) list() []Dirent {
	above := p.above()
	all := []Dirent{
		{Name: ".", Ino: p.info().Ino, Mode: fs.ModeDir},
		{Name: "..", Ino: above.info().Ino, Mode: fs.ModeDir},
	}
	names := p.node.(Directory).Names()
	slices.Sort(names)
	for _, name := range names {
		if c, err := p.child(name); err == nil {
			i := c.info()
			all = append(all, Dirent{Name: name, Ino: i.Ino, Mode: i.Mode})
		}
	}
	for i := range all {
		all[i].Next = int64(i + 1)
	}
	return all
}

// stated returns what io/fs has for an entry; nil for "." and "..", and for what has been removed.
func (p *Place) stated(e Dirent) fs.DirEntry {
	c, err := p.child(e.Name)
	if err != nil || e.Name == "." || e.Name == ".." {
		return nil
	}
	return fs.FileInfoToDirEntry(fileInfo{e.Name, c.node.Stat()})
}

// ReadDirents calls take with the entries from the position on, until take returns false: that
// entry is returned again next time. The directory is as it was when its first entry was read.
//
// Errors: ENOTDIR, ENOENT for a directory that was removed, EBADF; ENOMEM while open directories hold
// too many entries (wrapped with the path).
func (f *File) ReadDirents(take func(Dirent) bool) error {
	d, ok := f.node.(Directory)
	switch {
	case f.Closed():
		return pathError("readdir", f.name, errClosed)
	case !ok:
		return pathError("readdir", f.name, syscall.ENOTDIR)
	}
	if m, ok := d.(*Dir); ok && m.isGone() {
		return pathError("readdir", f.name, syscall.ENOENT)
	}
	f.happened(abi.IN_ACCESS)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.list(); err != nil {
		return pathError("readdir", f.name, err)
	}
	for f.off < int64(len(f.entries)) && take(f.entries[f.off]) {
		f.off++
	}
	return nil
}

// list fills f.entries. Context: mu held.
//
// Errors: ENOMEM; EBADF the file has been closed meanwhile.
func (f *File) list() error {
	if f.listed {
		return nil
	}
	f.entries, f.listed = f.place.list(), true
	switch n := listed.Add(int64(len(f.entries))); {
	case n > mostListed:
		f.unlist()
		return syscall.ENOMEM
	case f.Closed(): // its last Close may have come too early for that
		f.unlist()
		return errClosed
	}
	return nil
}

func (d *Dir) isGone() bool {
	d.fs.mu.RLock()
	defer d.fs.mu.RUnlock()
	return d.gone
}

// ReadDir implements fs.ReadDirFile: n > 0 gives the next n entries, any other n all that are left.
//
// Errors: ENOTDIR (wrapped with the path), io.EOF.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	var got []fs.DirEntry
	err := f.ReadDirents(func(e Dirent) bool {
		if n > 0 && len(got) == n {
			return false
		}
		if d := f.place.stated(e); d != nil {
			got = append(got, d)
		}
		return true
	})
	if err == nil && n > 0 && len(got) == 0 {
		err = io.EOF
	}
	return got, err
}
