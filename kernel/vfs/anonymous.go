package vfs

import (
	"fmt"
	"io/fs"
)

// Anonymous is embedded in a node that has no name in the tree, such as a pipe or an eventfd, or
// that gets its name from FS.AddAt.
type Anonymous struct{ *inode }

// NewAnonymous returns a node of that mode with a new inode number.
func NewAnonymous(mode fs.FileMode) Anonymous {
	a := Anonymous{new(inode)}
	a.start(mode)
	a.links, a.bare = 1, true
	return a
}

// NewNode returns a node for FS.AddAt whose kind another package implements, such as a FIFO.
func NewNode(mode fs.FileMode) Anonymous {
	a := Anonymous{new(inode)}
	a.start(mode)
	return a
}

// Stat implements Node.
func (a Anonymous) Stat() Info { return a.info() }

// Name returns what /proc/PID/fd shows: "pipe:[12]".
func (a Anonymous) Name(kind string) string { return fmt.Sprintf("%s:[%d]", kind, a.ino) }
