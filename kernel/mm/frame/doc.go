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
