package ring

// Trap context: nothing here checks the stack, allocates or waits. A ring in the layout of
// perf_event_open(2), which a program of ring 3 maps and reads.
//
// Source: Linux, uapi/linux/perf_event.h, struct perf_event_mmap_page and enum perf_event_type.

import (
	"sync/atomic"
	"unsafe"
)

// perfPages is the memory of a Perf: a page about it, and then the records. The program may write to the
// page, so that only its tail is read, and any value is borne.
type perfPages struct {
	page unsafe.Pointer
	size uint64 // of the records, a power of two
	over bool   // the oldest are overwritten
}

// Where in the page are positions of writer and reader, and where the records are.
const (
	perfPage     = 4096
	perfHead     = 1024
	perfTail     = 1032
	perfDataAt   = 1040
	perfDataSize = 1048
)

// Kinds of records.
const (
	perfLost   = 2
	perfSample = 9
)

// perfMost is the largest record: its size has 16 bits.
const perfMost = 1<<16 - 8

// Sample writes a record of a sample: words, and after them data, as a program puts it out (PERF_SAMPLE_RAW);
// nil: there is none.
// It returns false if there is no room, no memory, or another writer was interrupted: that is counted.
//
// Context: any, interrupts off; on one CPU.
//
//go:nosplit
func (p *Perf) Sample(words unsafe.Pointer, n uintptr, data unsafe.Pointer, size uintptr) bool {
	m := p.pages.Load()
	if m == nil || !p.busy.CompareAndSwap(false, true) {
		p.lost.Add(1)
		return false
	}
	ok := m.sample(p, words, n, data, size)
	if !ok {
		p.lost.Add(1)
		p.unsaid++
	}
	p.busy.Store(false)
	return ok
}

// sample is Sample with p's lock held.
//
//go:nosplit
func (m *perfPages) sample(p *Perf, words unsafe.Pointer, n uintptr, data unsafe.Pointer, size uintptr) bool {
	raw := uintptr(0)
	if data != nil {
		raw = (4 + size + wordSize - 1) &^ (wordSize - 1)
	}
	need := wordSize + n*wordSize + raw
	all := need
	if p.unsaid > 0 {
		all += 3 * wordSize
	}
	if size > perfMost || need > perfMost || uint64(all) > m.size || !m.over && p.head+uint64(all)-m.word(perfTail).Load() > m.size {
		return false
	}
	at := p.head
	if p.unsaid > 0 {
		lost := [3]uint64{perfLost | (3*wordSize)<<48, p.ID, p.unsaid}
		at = m.put(at, unsafe.Pointer(&lost), 3*wordSize)
		p.unsaid = 0
	}
	head := uint64(perfSample) | uint64(need)<<48
	at = m.put(at, unsafe.Pointer(&head), wordSize)
	at = m.put(at, words, n*wordSize)
	if data != nil {
		length, zero := uint32(raw-4), uint64(0)
		at = m.put(at, unsafe.Pointer(&length), 4)
		at = m.put(at, data, size)
		at = m.put(at, unsafe.Pointer(&zero), raw-4-size)
	}
	p.head = at
	p.written.Add(1)
	m.word(perfHead).Store(at)
	return true
}

// word is a word of the page. Safe because: the page is there.
//
//go:nosplit
func (m *perfPages) word(off uintptr) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(m.page, off))
}

// put copies n bytes to a position, and returns the one after them. Safe because: positions are taken modulo
// the size.
//
//go:nosplit
func (m *perfPages) put(at uint64, from unsafe.Pointer, n uintptr) uint64 {
	for i := uintptr(0); i < n; {
		off := (at + uint64(i)) & (m.size - 1)
		to := unsafe.Add(m.page, perfPage+uintptr(off))
		if n-i >= wordSize && off+wordSize <= m.size {
			*(*uint64)(to) = *(*uint64)(unsafe.Add(from, i))
			i += wordSize
			continue
		}
		*(*byte)(to) = *(*byte)(unsafe.Add(from, i))
		i++
	}
	return at + uint64(n)
}
