package vfs

import (
	"fmt"
	"io/fs"
)

// Anonymous is embedded in a node that has no name in the tree, a pipe or an event, or
// that gets one by FS.AddAt.
type Anonymous struct{ *inode }

// NewAnonymous returns a node of that mode with an inode number of its own.
func NewAnonymous(mode fs.FileMode) Anonymous {
	a := Anonymous{new(inode)}
	a.start(mode)
	a.links = 1
	return a
}

// NewNode returns a node for FS.AddAt, of a kind that another package makes: a FIFO.
func NewNode(mode fs.FileMode) Anonymous {
	a := Anonymous{new(inode)}
	a.start(mode)
	return a
}

// Stat implements Node.
func (a Anonymous) Stat() Info { return a.info() }

// Name returns what /proc/PID/fd shows: "pipe:[12]".
func (a Anonymous) Name(kind string) string { return fmt.Sprintf("%s:[%d]", kind, a.ino) }
