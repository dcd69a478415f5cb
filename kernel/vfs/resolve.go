package vfs

import "syscall"

// Resolve restricts walks from a Place.
//
// Source: Linux, openat2(2).
type Resolve uint8

// Restrictions of a walk; ResolveCached has no effect here, where no walk has to wait.
const (
	ResolveNoXDev       = 1
	ResolveNoMagicLinks = 2
	ResolveNoSymlinks   = 4
	ResolveBeneath      = 8
	ResolveInRoot       = 0x10 // the place is the root of the walk
	ResolveCached       = 0x20

	ResolveAll = 0x3f
)

// Bounded returns p as the start of a restricted walk.
func (p *Place) Bounded(r Resolve) *Place {
	q := *p
	q.resolve = r
	return &q
}

// bounds are the restrictions of a walk.
type bounds struct {
	Resolve
	from Place
}

// rooted goes to where an absolute path begins.
//
// Errors: EXDEV.
func (w *walker) rooted() error {
	switch {
	case w.bounds.Resolve&ResolveBeneath != 0:
		return syscall.EXDEV
	case w.bounds.Resolve&ResolveInRoot != 0:
		w.cur = w.bounds.from
		return nil
	}
	return w.cross(*w.cur.fs.RootPlace())
}

// up goes to the directory above.
//
// Errors: EXDEV.
func (w *walker) up() error {
	if w.bounds.Resolve&(ResolveBeneath|ResolveInRoot) != 0 && w.cur.node == w.bounds.from.node {
		if w.bounds.Resolve&ResolveBeneath != 0 {
			return syscall.EXDEV
		}
		return nil
	}
	return w.cross(w.cur.above())
}

// cross goes to another place, if it is on the same mount or crossing mounts is allowed.
//
// Errors: EXDEV.
func (w *walker) cross(to Place) error {
	if w.bounds.Resolve&ResolveNoXDev != 0 && to.device() != w.cur.device() {
		return syscall.EXDEV
	}
	w.cur = to
	return nil
}

// mayFollow refuses a symbolic link that the walk may not follow.
//
// Errors: ELOOP; EXDEV for a link that leads to no name, if the walk must stay beneath its start.
func (w *walker) mayFollow(l Link) error {
	_, magic := l.(Magic)
	if !magic {
		_, magic = l.(Jumper)
	}
	switch r := w.bounds.Resolve; {
	case r&ResolveNoSymlinks != 0, magic && r&ResolveNoMagicLinks != 0:
		return syscall.ELOOP
	case magic && r&(ResolveBeneath|ResolveInRoot|ResolveNoXDev) != 0:
		return syscall.EXDEV
	}
	return nil
}
