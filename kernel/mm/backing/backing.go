// Package backing is what the tree of files and the address spaces of programs agree on: pages of a
// file that can be mapped. So neither imports the other.
package backing

import (
	"syscall"

	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
)

// ErrBus is the error of a page beyond the end of the file. A program gets SIGBUS.
var ErrBus = refusal.New(syscall.EFAULT, "page is beyond the end of the file")

// A Store is the content of a file, or of shared memory, in pages.
type Store interface {
	// Frame returns the frame of a page, with a reference for the caller. Errors: any that wraps
	// ErrBus or frame.ErrNoMemory.
	Frame(page uint64) (frame.Frame, error)
	// Hold and Drop count the mappings: while there are any, the pages stay.
	Hold()
	Drop()
	// Ident identifies the file in /proc/PID/maps.
	Ident() Ident
}

// A Text is the file of a running program. It cannot be written to while it runs.
type Text interface {
	// Deny adds a user. Errors: ETXTBSY while the file is open for writing.
	Deny() error
	// Allow removes a user.
	Allow()
}

// Ident identifies the file whose pages an area maps.
type Ident struct {
	Name       string // a path, or [stack] and the like
	Dev, Inode uint64
}

// Cut unmaps the pages of s from page on everywhere, since they are after its end now. It does
// nothing while there are no address spaces; who makes them replaces it.
var Cut = func(s Store, page uint64) {}
