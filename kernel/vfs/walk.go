package vfs

import (
	"errors"
	"strings"
	"syscall"
)

// Limits of names, as in Linux.
const (
	maxName  = 255
	maxPath  = 4095
	maxLinks = 40 // symbolic links in one walk
)

// walker is the state of a walk along a path.
type walker struct {
	cur     Place
	viewer  any
	links   int
	missing string // the name that was not found, if it was the last of the path
	creates bool   // a missing last name may be created as a file: no slash follows it
	bounds  bounds
}

// walkFrom starts a walk at a place, with its restrictions.
func walkFrom(from *Place) walker {
	begin := *from
	begin.resolve = 0
	return walker{cur: begin, viewer: from.viewer, bounds: bounds{from.resolve, begin}}
}

// walk finds the place of a path that begins at from. follow says whether a symbolic link at the
// end is followed.
//
// Errors: ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, and those of directories.
func walk(from *Place, path string, follow bool) (Place, error) {
	w := walkFrom(from)
	err := w.run(path, follow)
	return w.cur, err
}

func (w *walker) run(path string, follow bool) error {
	switch {
	case path == "":
		return syscall.ENOENT
	case len(path) > maxPath:
		return syscall.ENAMETOOLONG
	}
	if path[0] == '/' {
		if err := w.rooted(); err != nil {
			return err
		}
	}
	for {
		name, rest := cut(path)
		if name == "" {
			return nil
		}
		target, err := w.step(name, rest, follow)
		if err != nil {
			return err
		}
		if path = rest; target != "" {
			path = target + rest
		}
	}
}

// cut splits the first name off a path. The rest begins with a slash or is empty.
func cut(path string) (name, rest string) {
	path = strings.TrimLeft(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// step goes to a name in the current directory. If it is a symbolic link to be followed, it returns
// the path that replaces it.
func (w *walker) step(name, rest string, follow bool) (target string, err error) {
	if _, ok := w.cur.node.(Directory); !ok {
		return "", syscall.ENOTDIR
	}
	switch {
	case name == ".":
		return "", nil
	case name == "..":
		return "", w.up()
	case len(name) > maxName:
		return "", syscall.ENAMETOOLONG
	}
	last := strings.Trim(rest, "/") == ""
	if w.creates && last && rest != "" {
		return "", syscall.EISDIR
	}
	next, err := w.cur.child(name)
	if err != nil {
		if last && errors.Is(err, syscall.ENOENT) {
			w.missing = name
		}
		return "", err
	}
	if l, ok := next.node.(Link); ok && (follow || rest != "") {
		return w.follow(l)
	}
	if _, ok := next.node.(Directory); !ok && rest != "" {
		return "", syscall.ENOTDIR
	}
	return "", w.cross(next)
}

// follow returns the target of a symbolic link, or goes to it if it is a Jumper.
func (w *walker) follow(l Link) (string, error) {
	if w.links++; w.links > maxLinks {
		return "", syscall.ELOOP
	}
	if err := w.mayFollow(l); err != nil {
		return "", err
	}
	if j, ok := l.(Jumper); ok {
		to, err := j.Jump()
		if err == nil {
			w.cur = to
		}
		return "", err
	}
	target, err := targetFor(l, w.viewer)
	switch {
	case err != nil:
		return "", err
	case target == "":
		return "", syscall.ENOENT
	case target[0] == '/':
		return target, w.rooted()
	}
	return target, nil
}

// targetFor returns the target of a symbolic link.
func targetFor(l Link, viewer any) (string, error) {
	if v, ok := l.(Viewed); ok {
		return v.TargetFor(viewer)
	}
	return l.Target()
}

// final is the last name of a path and the directory that contains it.
type final struct {
	dir   Place
	name  string // "/" for the root itself
	slash bool   // a slash follows: it must be a directory
}

// walkTo finds the directory of the last name of a path; that name need not exist.
//
// Errors: as walk.
func walkTo(from *Place, path string) (final, error) {
	short := strings.TrimRight(path, "/")
	if short == "" && path != "" {
		return final{*from.fs.RootPlace(), "/", false}, nil
	}
	f := final{name: short, slash: short != path}
	dir := "."
	if i := strings.LastIndexByte(short, '/'); i >= 0 {
		dir, f.name = short[:i+1], short[i+1:]
	}
	if path == "" {
		return f, syscall.ENOENT
	}
	if len(f.name) > maxName {
		return f, syscall.ENAMETOOLONG
	}
	var err error
	f.dir, err = walk(from, dir, true)
	if err == nil {
		if _, ok := f.dir.node.(Directory); !ok {
			err = syscall.ENOTDIR
		}
	}
	return f, err
}

// memory returns the directory in memory in which users create and remove names.
//
// Errors: EACCES.
func (f *final) memory(force bool) (*Dir, error) {
	d, ok := f.dir.node.(*Dir)
	if !ok || d.sealed && !force {
		return nil, errSealed
	}
	return d, nil
}

// plain refuses names that are not entries: the root, "." and "..".
func (f *final) plain(err error) error {
	switch f.name {
	case "/", ".", "..":
		return err
	}
	return nil
}
