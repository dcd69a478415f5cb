package process

import (
	"encoding/binary"
	"io"
	"syscall"

	"sonde/kernel/mm/frame"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// pagemap is /proc/PID/pagemap: a word for each page, by its number. It says whether the page is in memory, where
// there, and whether it is a file's or shared. Missing: what has been written since (soft-dirty), what one process
// alone maps, and swap, which there is none of.
//
// Source: Linux, Documentation/admin-guide/mm/pagemap.rst. It implements vfs.Node.
type pagemap struct{ p *proc.Process }

const (
	pageShared  = 1 << 61
	pagePresent = 1 << 63
)

func (pagemap) Stat() vfs.Info { return vfs.Info{Mode: 0400} }

// Open implements vfs.Opener: the memory is what the process has now.
func (m pagemap) Open(int) (vfs.Handle, error) { return openPages{m.p.Memory()}, nil }

type openPages struct{ m *proc.Memory } // nil: the process has ended

// ReadAt implements vfs.Handle.
//
// Errors: EINVAL it is not about whole words.
func (o openPages) ReadAt(b []byte, off int64) (n int, err error) {
	const word = 8
	if off%word != 0 || len(b)%word != 0 {
		return 0, syscall.EINVAL
	}
	for ; n < len(b); n += word {
		addr := uint64(off+int64(n)) / word * space.PageSize
		if o.m == nil || addr >= o.m.Top() {
			return n, io.EOF
		}
		binary.LittleEndian.PutUint64(b[n:], pageOf(o.m, addr))
	}
	return n, nil
}

// pageOf is the word of a page.
func pageOf(m *proc.Memory, addr uint64) uint64 {
	f := m.Resident(addr)
	if f == frame.None {
		return 0
	}
	v := pagePresent | uint64(f)/space.PageSize
	if a, ok := m.At(addr); ok && (a.Shared || a.Ident.Inode != 0) {
		v |= pageShared
	}
	return v
}

// WriteAt implements vfs.Handle.
//
// Errors: EBADF.
func (openPages) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

// Close implements vfs.Handle.
func (openPages) Close() error { return nil }
