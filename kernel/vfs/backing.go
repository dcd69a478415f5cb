package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// Backing returns the pages of f for a mapping: the same value for all that open the same file, nil
// for zeroes.
//
// Errors: ENODEV if f is neither a regular file nor Zeroes, EBADF (wrapped with the path).
func (f *File) Backing() (backing.Store, error) {
	r, ok := f.node.(*regular)
	_, zeroes := f.handle.(Zeroes)
	switch {
	case zeroes && !f.Closed():
		return nil, nil
	case !ok:
		return nil, pathError("mmap", f.name, syscall.ENODEV)
	case f.Closed() || f.handle == nil:
		return nil, pathError("mmap", f.name, errClosed)
	}
	r.mapped.Store(f.place)
	r.wasMapped.Store(true)
	return r, nil
}

// Size returns how many bytes f has.
func (f *File) Size() int64 { return f.size() }

// cutOff unmaps the pages after the end of a file that has become shorter.
func (r *regular) cutOff(size int64) {
	if r.wasMapped.Load() {
		backing.Cut(r, uint64(size+pageSize-1)/pageSize)
	}
}

// Frame implements backing.Store. Shared mappings, reads and writes use the same frames.
//
// Errors: backing.ErrBus beyond the end of the file, frame.ErrNoMemory.
func (r *regular) Frame(page uint64) (frame.Frame, error) {
	r.data.Lock()
	defer r.data.Unlock()
	if page >= uint64(r.size+pageSize-1)/pageSize {
		return frame.None, fmt.Errorf("page %d of a file of %d bytes: %w", page, r.size, backing.ErrBus)
	}
	p, err := r.pages.ready(int64(page))
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("files already use all the memory they are allowed: %w", frame.ErrNoMemory)
	}
	if err != nil {
		return frame.None, err
	}
	memory.Ref(p)
	return p, nil
}

// Resident reports whether a page of the file is in memory; a hole is not.
func (r *regular) Resident(page uint64) bool {
	r.data.RLock()
	defer r.data.RUnlock()
	at := int64(page) * pageSize
	return at < r.size && (at < int64(len(r.pages.base)) || r.pages.at(int64(page)) != frame.None)
}

func (r *regular) Ident() backing.Ident {
	id := backing.Ident{Dev: Device, Inode: r.ino}
	if p := r.mapped.Load(); p != nil {
		id.Name = p.Describe()
	}
	return id
}
