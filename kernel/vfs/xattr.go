package vfs

import (
	"maps"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/abi"
)

// Bounds of extended attributes.
//
// Source: Linux, xattr(7).
const (
	xattrName  = 255
	xattrValue = 64 << 10
	xattrRoom  = 64 << 10 // of all names and values of a file
	xattrsMost = 16 << 20 // of all files, xattrCost included, so that they cannot fill the memory
	xattrCost  = 128      // what an attribute counts besides its name and value
)

// xattrsTaken is what the extended attributes of all files count.
var xattrsTaken atomic.Int64

// xattrs are the extended attributes of an inode, by name. Guarded by inode.mu.
type xattrs map[string][]byte

// Attributed is a node with extended attributes.
type Attributed interface {
	// SetXattr sets one. Errors: EEXIST, ENODATA as create and replace demand; E2BIG, ENOSPC;
	// EOPNOTSUPP for a node that can have no name any more.
	SetXattr(name string, value []byte, create, replace bool) error
	// Xattr returns one, which the caller may not modify. Errors: ENODATA.
	Xattr(name string) ([]byte, error)
	// Xattrs returns the names, sorted.
	Xattrs() []string
	// RemoveXattr removes one. Errors: ENODATA.
	RemoveXattr(name string) error
}

func (i *inode) SetXattr(name string, value []byte, create, replace bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	old, there := i.extended[name]
	switch {
	case i.bare:
		return syscall.EOPNOTSUPP
	case len(name) > xattrName:
		return syscall.ERANGE
	case len(value) > xattrValue:
		return syscall.E2BIG
	case create && there:
		return syscall.EEXIST
	case replace && !there:
		return syscall.ENODATA
	}
	used := len(name) + len(value) - len(old)
	for n, v := range i.extended {
		used += len(n) + len(v)
	}
	more := int64(len(value) - len(old))
	if !there {
		more += int64(len(name)) + xattrCost
	}
	if used > xattrRoom+xattrName || !takeXattrs(more) {
		return syscall.ENOSPC
	}
	if i.extended == nil {
		i.extended = xattrs{}
	}
	i.extended[name] = slices.Clone(value)
	i.change = time.Now()
	return nil
}

// takeXattrs counts n bytes more, and reports whether they are within the limit.
func takeXattrs(n int64) bool {
	if xattrsTaken.Add(n) > xattrsMost && n > 0 {
		xattrsTaken.Add(-n)
		return false
	}
	return true
}

// give counts the attributes as gone.
func (x xattrs) give() {
	for name, value := range x {
		takeXattrs(-int64(len(name) + len(value) + xattrCost))
	}
}

func (i *inode) Xattr(name string) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	v, there := i.extended[name]
	if !there {
		return nil, syscall.ENODATA
	}
	return v, nil
}

func (i *inode) Xattrs() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Sorted(maps.Keys(i.extended))
}

func (i *inode) RemoveXattr(name string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	value, there := i.extended[name]
	if !there {
		return syscall.ENODATA
	}
	takeXattrs(-int64(len(name) + len(value) + xattrCost))
	delete(i.extended, name)
	i.change = time.Now()
	return nil
}

// ChangeXattrs calls f with the extended attributes of n, and reports the change to watches.
//
// Errors: EOPNOTSUPP for a node that the kernel makes; those of f.
func ChangeXattrs(n Node, f func(Attributed) error) error {
	a, ok := n.(Attributed)
	if !ok {
		return syscall.EOPNOTSUPP
	}
	err := f(a)
	if err == nil {
		tellNode(n, abi.IN_ATTRIB)
	}
	return err
}
