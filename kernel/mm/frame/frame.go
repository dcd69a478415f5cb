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
