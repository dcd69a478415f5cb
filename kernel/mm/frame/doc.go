// Package frame allocates page frames: the memory of user pages, their page tables, and
// file contents.
//
// A Frame is a physical address. A Pool counts the references to each frame it has
// allocated; the last Put frees the frame. Frames come in blocks of 2 MiB from a Source: on
// the machine, the memory that the Go runtime has not taken yet. A block is returned to its
// source when all of it is free and the pool has another block's worth of free frames.
//
// Finding the bytes of a frame takes two loads: a table by block number, and the block's
// address. It takes no lock, so the holder of a reference may read and write the frame at
// any time, from any context.
//
// Rejected: frames as objects in Go's heap. The collector would have to scan or at least
// mark them, and a page table would have to be a pinned object with a known physical
// address; a reference count shows at once when a page is free.
package frame

import (
	"errors"
	"syscall"

	"sonde/kernel/refusal"
)

// Size and BlockSize are the bytes of a frame, and of a block from a Source.
const (
	Size      = 4 << 10
	BlockSize = 2 << 20
	perBlock  = BlockSize / Size
)

// A Frame is the physical address of a page. None is no frame.
type Frame uint64

// None is no frame.
const None Frame = 0

// ErrNoMemory says that neither pool nor source has a frame left.
var ErrNoMemory = refusal.New(syscall.ENOMEM, "no page frame left")

// errSource says what is wrong with a block of a Source.
var errSource = errors.New("frame: a block of the source is not 2 MiB, aligned, and new")

// A Source provides blocks. Its methods are called with the pool's lock held, one at a time.
type Source interface {
	// Take returns BlockSize bytes and their physical address, a multiple of
	// BlockSize and not 0. Errors: any that wraps ENOMEM.
	Take() (mem []byte, pa uint64, err error)
	// Give returns a block.
	Give(mem []byte, pa uint64)
}
