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
	maxFile      = 64 << 30 // so that the table of a sparse file stays small
	defaultLimit = 64 << 20 // of a tree, until SetLimit
)

// memory is where the pages of files come from.
var memory = frame.Kernel

// pages are the contents of a regular file, in frames that mappings share. A page that is not there reads as what
// base has at its place, then as zeroes. Guarded by the file's lock.
type pages struct {
	fs     *FS
	base   []byte // read-only: from an initramfs
	chunks []*chunk
	n      int64 // pages that are there
	used   int64 // chunks that are there
}

type chunk [chunkPages]frame.Frame

// SetLimit says how many bytes all files of the tree may hold; what is read-only in
// an initramfs does not count.
func (f *FS) SetLimit(bytes int64) { f.limit.Store(bytes / pageSize) }

// Usage returns how many pages files may hold and hold, for statfs.
func (f *FS) Usage() (limit, used int64) { return f.limit.Load(), f.used.Load() }

// Frames returns how many frames files have.
func (f *FS) Frames() int { return int(f.frames.Load()) }

// held is how many pages the file takes up, those in base included.
func (s *pages) held() int64 {
	return max(s.n, int64(len(s.base)+pageSize-1)/pageSize)
}

// at returns page i, or None if it is not there.
func (s *pages) at(i int64) frame.Frame {
	if c := i / chunkPages; c < int64(len(s.chunks)) && s.chunks[c] != nil {
		return s.chunks[c][i%chunkPages]
	}
	return frame.None
}

// ready returns page i, which is made if need be.
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

// tables is how many pages more the tables count as with page i, which is not there: a
// program may write one byte to each chunk of a long file. The first of each kind is in
// what the file's name counts as.
func (s *pages) tables(i int64) int64 {
	c := i / chunkPages
	size, used := max(int64(len(s.chunks)), c+1), s.used
	if c >= int64(len(s.chunks)) || s.chunks[c] == nil {
		used++
	}
	return tablePages(size, used) - tablePages(int64(len(s.chunks)), s.used)
}

// tablePages is what a table of that many chunks counts as, of which used are there.
func tablePages(size, used int64) int64 {
	const pointers = pageSize / 8 // in a page
	return max(0, (size-1)/pointers) + max(0, used-1)
}

// take counts pages that files get.
//
// Errors: ENOSPC.
func (f *FS) take(n int64) error {
	if f.used.Add(n) > f.limit.Load() {
		f.used.Add(-n)
		return syscall.ENOSPC
	}
	return nil
}

// give counts pages that files have given back.
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

// writeAt writes src at off.
//
// Errors: as ready, with what was written before.
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

// truncate forgets everything from size on.
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

// clearBehind makes zeroes of the page that the file ends in, from its end at size on.
func (s *pages) clearBehind(size int64) {
	if p := s.at(size / pageSize); p != frame.None && size%pageSize != 0 {
		clear(memory.Bytes(p)[size%pageSize:])
	}
}

// shorten keeps that many chunks, and no more room for others.
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

// drop gives back the pages of c from i on.
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

// has reports whether there is anything at page i, of which a program could not say that it
// is a hole.
func (s *pages) has(i int64) bool {
	return s.at(i) != frame.None || i*pageSize < int64(len(s.base))
}

// next returns the first page from i on, before end, that has or has not anything; end if
// there is none.
func (s *pages) next(i, end int64, has bool) int64 {
	for i < end && s.has(i) != has {
		if c := i / chunkPages; has && i*pageSize >= int64(len(s.base)) && (c >= int64(len(s.chunks)) || s.chunks[c] == nil) {
			i = min(end, (c+1)*chunkPages) // there is nothing in all of it
			continue
		}
		i++
	}
	return i
}
