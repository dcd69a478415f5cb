package perf

// Trap context, or goroutines, as a place calls its handlers: what a hit does for an event.

import (
	"unsafe"

	"sonde/probe/attach"
)

// ring3 are the bits of CS that tell that code of a program was interrupted.
const ring3 = 3

// wants reports whether a hit is one of the event's: on its CPU, in its thread.
func (e *Event) wants(h *attach.Hit, w *whose) bool {
	switch {
	case e.cpu >= 0 && uint32(e.cpu) != w.cpu, e.tid != 0 && !e.covers(w.tid):
		return false
	case !e.clock:
		return true
	case h.Regs.CS&ring3 == ring3:
		return !e.attr.has(flagExcludeUser)
	}
	return !e.attr.has(flagExcludeKernel)
}

// covers reports whether a thread's hits count.
func (e *Event) covers(tid uint32) bool {
	if e.follower == nil {
		return tid == uint32(e.tid)
	}
	tids := *e.follower.tids.Load()
	for len(tids) > 0 {
		middle := len(tids) / 2
		switch {
		case tids[middle] == tid:
			return true
		case tids[middle] < tid:
			tids = tids[middle+1:]
		default:
			tids = tids[:middle]
		}
	}
	return false
}

// A whose says for whom, where and when a hit is.
type whose struct {
	pid, tid, cpu uint32
	time          int64
}

// over counts a hit, and reports whether it ends a period.
func (e *Event) over(h *attach.Hit, w *whose) bool {
	if !e.wants(h, w) {
		return false
	}
	n := e.hits.Add(1)
	p := e.period.Load()
	return p != 0 && n%p == 0
}

// through calls the event's program at the end of each period.
func (e *Event) through(h *attach.Hit, program attach.Handler) bool {
	w := of(h)
	due := e.over(h, &w)
	if due {
		h.Call(program)
	}
	return due
}

// hit is the handler of an event without a program: a sample at the end of each period.
func (e *Event) hit(h *attach.Hit) {
	if w := of(h); e.over(h, &w) {
		e.sample(h, &w)
	}
}

// sample writes a sample into the memory that the event has, if any.
func (e *Event) sample(h *attach.Hit, w *whose) {
	r := e.ring.Load()
	if r == nil {
		return
	}
	var words [9]uint64
	n := uintptr(0)
	for _, f := range [...]struct{ kind, word uint64 }{
		{sampleIdentifier, e.id}, {sampleIP, h.IP}, {sampleTID, uint64(w.pid) | uint64(w.tid)<<32}, {sampleTime, uint64(w.time)},
		{sampleAddr, h.Place.Addr}, {sampleID, e.id}, {sampleStreamID, e.id}, {sampleCPU, uint64(w.cpu)}, {samplePeriod, e.period.Load()},
	} {
		if e.attr.Sample&f.kind != 0 {
			words[n] = f.word
			n++
		}
	}
	var data unsafe.Pointer
	if e.attr.Sample&sampleRaw != 0 {
		data = unsafe.Pointer(&words) // there is none, but its size is
	}
	r.Sample(unsafe.Pointer(&words), n, data, 0)
}
