package vfs

import (
	"syscall"

	"sonde/kernel/mm/frame"
)

// Sizes of files and trees.
const (
	pageSize     = frame.Size
	chunkPages   = 512
	chunkSize    = chunkPages * pageSize
	defaultLimit = 64 << 20 // of a tree, until SetLimit
)

// MaxFile is the most bytes that a file has, so that the table of a sparse file stays small.
const MaxFile = 64 << 30

// memory gives out the frames for the pages of files.
var memory = frame.Kernel

// pages is the contents of a regular file, in frames that mappings share. A missing page reads as
// the same place in base, and after the end of base as zeroes. Guarded by the file's lock.
type pages struct {
	fs     *FS
	base   []byte // read-only: from an initramfs
	chunks []*chunk
	n      int64 // existing pages
	used   int64 // existing chunks
}

type chunk [chunkPages]frame.Frame

// SetLimit sets how many bytes all files of the tree may hold; the read-only contents of an
// initramfs do not count.
func (f *FS) SetLimit(bytes int64) { f.limit.Store(bytes / pageSize) }

// Usage returns how many pages files may hold, and how many they hold, for statfs.
func (f *FS) Usage() (limit, used int64) { return f.limit.Load(), f.used.Load() }

// Frames returns how many frames files have.
func (f *FS) Frames() int { return int(f.frames.Load()) }

// held is how many pages the file uses, those in base included.
func (s *pages) held() int64 { return max(s.n, int64(len(s.base)+pageSize-1)/pageSize) }

// at returns page i, or None if it does not exist.
func (s *pages) at(i int64) frame.Frame {
	if c := i / chunkPages; c < int64(len(s.chunks)) && s.chunks[c] != nil {
		return s.chunks[c][i%chunkPages]
	}
	return frame.None
}

// ready returns page i, and allocates it if necessary.
//
// Errors: ENOSPC, ENOMEM.
func (s *pages) ready(i int64) (frame.Frame, error) {
	if p := s.at(i); p != frame.None {
		return p, nil
	}
	more := s.tables(i)
	if err := s.fs.take(1 + more); err != nil {
		return frame.None, err
	}
	p, err := memory.AllocDirty()
	if err != nil {
		s.fs.give(1 + more)
		return frame.None, err
	}
	n := 0
	if off := i * pageSize; off < int64(len(s.base)) {
		n = frame.Copy(memory.Bytes(p), s.base[off:])
	}
	clear(memory.Bytes(p)[n:])
	c := i / chunkPages
	if missing := c + 1 - int64(len(s.chunks)); missing > 0 {
		s.chunks = append(s.chunks, make([]*chunk, missing)...)
	}
	if s.chunks[c] == nil {
		s.chunks[c] = new(chunk)
		s.used++
	}
	s.chunks[c][i%chunkPages] = p
	s.n++
	s.fs.frames.Add(1)
	return p, nil
}

// tables is how many pages the tables grow by if page i is added: a program may write one byte to
// each chunk of a long file. The first table of each kind is included in what a file's name counts.
func (s *pages) tables(i int64) int64 {
	c := i / chunkPages
	size, used := max(int64(len(s.chunks)), c+1), s.used
	if c >= int64(len(s.chunks)) || s.chunks[c] == nil {
		used++
	}
	return tablePages(size, used) - tablePages(int64(len(s.chunks)), s.used)
}

// tablePages is the size in pages of a table of size chunks, of which used exist.
func tablePages(size, used int64) int64 {
	const pointers = pageSize / 8 // in a page
	return max(0, (size-1)/pointers) + max(0, used-1)
}

// take counts pages that files allocate.
//
// Errors: ENOSPC.
func (f *FS) take(n int64) error {
	if f.used.Add(n) > f.limit.Load() {
		f.used.Add(-n)
		return syscall.ENOSPC
	}
	return nil
}

// give counts pages that files have freed.
func (f *FS) give(n int64) { f.used.Add(-n) }

// readAt fills dst from off.
func (s *pages) readAt(dst []byte, off int64) {
	for len(dst) > 0 {
		at := off % pageSize
		n := min(int64(len(dst)), pageSize-at)
		if p := s.at(off / pageSize); p != frame.None {
			frame.Copy(dst[:n], memory.Bytes(p)[at:])
		} else {
			got := 0
			if off < int64(len(s.base)) {
				got = frame.Copy(dst[:n], s.base[off:])
			}
			clear(dst[got:n])
		}
		dst, off = dst[n:], off+n
	}
}

// writeAt writes src at off, and returns how many bytes it wrote.
//
// Errors: as ready; the bytes before the failure have been written.
func (s *pages) writeAt(src []byte, off int64) (done int, err error) {
	for len(src) > 0 {
		p, err := s.ready(off / pageSize)
		if err != nil {
			return done, err
		}
		n := frame.Copy(memory.Bytes(p)[off%pageSize:], src)
		src, off, done = src[n:], off+int64(n), done+n
	}
	return done, nil
}

// truncate removes everything from size on.
func (s *pages) truncate(size int64) {
	s.base = s.base[:min(int64(len(s.base)), size)]
	s.clearBehind(size)
	first := (size + pageSize - 1) / pageSize
	for c := first / chunkPages; c < int64(len(s.chunks)); c++ {
		if s.chunks[c] != nil {
			s.drop(s.chunks[c], max(0, first-c*chunkPages))
		}
	}
	if keep := (first + chunkPages - 1) / chunkPages; keep < int64(len(s.chunks)) {
		s.shorten(keep)
	}
}

// clearBehind zeroes the rest of the last page after size.
func (s *pages) clearBehind(size int64) {
	if p := s.at(size / pageSize); p != frame.None && size%pageSize != 0 {
		clear(memory.Bytes(p)[size%pageSize:])
	}
}

// shorten keeps that many chunks, and frees unused space of the table.
func (s *pages) shorten(keep int64) {
	before := tablePages(int64(len(s.chunks)), s.used)
	for _, c := range s.chunks[keep:] {
		if c != nil {
			s.used--
		}
	}
	s.chunks = append([]*chunk(nil), s.chunks[:keep]...)
	s.fs.give(before - tablePages(keep, s.used))
}

// drop frees the pages of c from i on.
func (s *pages) drop(c *chunk, i int64) {
	for ; i < chunkPages; i++ {
		if c[i] != frame.None {
			memory.Put(c[i])
			c[i] = frame.None
			s.n--
			s.fs.frames.Add(-1)
			s.fs.give(1)
		}
	}
}

// has reports whether page i exists or has data in base. If not, it is a hole.
func (s *pages) has(i int64) bool {
	return s.at(i) != frame.None || i*pageSize < int64(len(s.base))
}

// next returns the first page from i on, before end, for which has returns that value; end if there
// is none.
func (s *pages) next(i, end int64, has bool) int64 {
	for i < end && s.has(i) != has {
		if c := i / chunkPages; has && i*pageSize >= int64(len(s.base)) && (c >= int64(len(s.chunks)) || s.chunks[c] == nil) {
			i = min(end, (c+1)*chunkPages) // the whole chunk is missing
			continue
		}
		i++
	}
	return i
}
