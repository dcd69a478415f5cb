package printk

// Trap context. Writers interrupt each other at any instruction; a slot is
// claimed by compare-and-swap and never waited for.

import (
	"encoding/binary"
	"sync/atomic"

	"sonde/kernel/flight"
)

const (
	slotCount = 2048                  // records of up to slotText bytes
	slotText  = 128                   // 2048 × 128 B = 256 KiB of text
	slotWords = slotText / 8          // text is stored as atomic words
	maxSlots  = maxText / slotText    // slots of the longest record
	slotMask  = uint64(slotCount - 1) // slotCount is a power of two
)

// slot holds a record or one piece of a long one. The text is made of atomic
// words because a reader may copy it while it is being overwritten; it finds
// out afterwards, by state.
type slot struct {
	// state is (ticket+1)<<1, plus 1 when the record is finished; 0 is unused.
	state atomic.Uint64
	// dropped is 1 + the last ticket that found the slot busy and gave up.
	dropped atomic.Uint64
	meta    atomic.Uint64
	time    atomic.Int64
	text    [slotWords]atomic.Uint64
}

// meta packs what is said about a record. slots is 0 in the second and later
// pieces of a record, which readers step over.
func packMeta(level Level, cpu, n int, slots uint64) uint64 {
	return uint64(level) | slots<<8 | uint64(cpu&0xffff)<<16 | uint64(n)<<32
}

func metaSlots(m uint64) uint64 { return m >> 8 & 0xff }

func writing(ticket uint64) uint64 { return (ticket + 1) << 1 }
func done(ticket uint64) uint64    { return (ticket+1)<<1 | 1 }

type ring struct {
	next        atomic.Uint64 // the next ticket
	overwritten atomic.Uint64 // records that made room for newer ones
	unseen      atomic.Uint64 // records that the console did not show, being late
	dropped     atomic.Uint64 // records that found their slot busy
	slots       [slotCount]slot
}

func (r *ring) slot(ticket uint64) *slot { return &r.slots[ticket&slotMask] }

// put stores the first n bytes of text as one record, and has it kept for the next boot.
func (r *ring) put(level Level, cpu int, ns int64, text *[maxText]byte, n int) {
	k := uint64(n+slotText-1) / slotText
	if k == 0 {
		k = 1
	}
	t := r.next.Add(k) - k
	for i := range k {
		if !r.claim(t + i) {
			r.drop(t, i, k)
			return
		}
	}
	for i := range k {
		s := r.slot(t + i)
		s.time.Store(ns)
		s.meta.Store(0)
		piece := text[i*slotText:]
		for w := 0; w < slotWords && int(i)*slotText+w*8 < n; w++ {
			s.text[w].Store(binary.LittleEndian.Uint64(piece[w*8:]))
		}
	}
	r.slot(t).meta.Store(packMeta(level, cpu, n, k))
	// The first piece last: a reader that finds it finished finds all of it.
	for i := k; i > 0; i-- {
		r.slot(t + i - 1).state.Store(done(t + i - 1))
	}
	flight.Main.Log(t, ns, uint8(level), cpu, text[:n])
}

// claim takes the slot of a ticket for writing. It fails when an older
// record is still being written there, or a newer one already is.
func (r *ring) claim(t uint64) bool {
	s := r.slot(t)
	for {
		old := s.state.Load()
		if old != 0 && old&1 == 0 || old >= writing(t) {
			return false
		}
		// Read before the record is gone: the count may be a little high
		// (the console got it in time after all), but never low.
		shown := old>>1 <= consoleNext.Load()
		if s.state.CompareAndSwap(old, writing(t)) {
			if old != 0 && metaSlots(s.meta.Load()) != 0 {
				r.overwritten.Add(1)
				if !shown {
					r.unseen.Add(1)
				}
			}
			return true
		}
	}
}

// drop gives up the record of k slots at ticket t, of which claimed are ours:
// those become empty pieces, the others are marked as never to come.
func (r *ring) drop(t, claimed, k uint64) {
	r.dropped.Add(1)
	for i := range k {
		s := r.slot(t + i)
		if i < claimed {
			s.meta.Store(0)
			s.state.Store(done(t + i))
			continue
		}
		for {
			if old := s.dropped.Load(); old >= t+i+1 || s.dropped.CompareAndSwap(old, t+i+1) {
				break
			}
		}
	}
}

// oldest returns the first ticket that can still be in the ring.
func (r *ring) oldest() uint64 {
	if next := r.next.Load(); next > slotCount {
		return next - slotCount
	}
	return 0
}

// status says what is to be found at a ticket.
type status int

const (
	atEnd      status = iota // nothing was logged there yet
	unfinished               // being written
	gone                     // overwritten, dropped, or inside a longer record
	ready                    // a record
)

// peek says what is at ticket t.
func (r *ring) peek(t uint64) status {
	if t >= r.next.Load() {
		return atEnd
	}
	s := r.slot(t)
	switch state := s.state.Load(); {
	case state == done(t):
		if metaSlots(s.meta.Load()) == 0 {
			return gone
		}
		return ready
	case state > done(t):
		return gone
	case state < writing(t) && s.dropped.Load() > t:
		return gone
	}
	return unfinished
}

// get copies the record at ticket t into rec and returns the ticket after it.
// When the status is not ready, rec is undefined and the returned ticket is
// where to continue if this one is given up.
func (r *ring) get(t uint64, rec *Record) (uint64, status) {
	if st := r.peek(t); st != ready {
		return t + 1, st
	}
	head := r.slot(t)
	m := head.meta.Load()
	k, n := metaSlots(m), int(m>>32)
	if k == 0 || k > maxSlots || n > maxText {
		return t + 1, gone // overwritten since peek
	}
	rec.Seq, rec.Time = t, head.time.Load()
	rec.Level, rec.CPU, rec.n = Level(m), int(m>>16&0xffff), n
	for i := range k {
		s := r.slot(t + i)
		piece := rec.text[i*slotText:]
		for w := 0; w < slotWords && int(i)*slotText+w*8 < n; w++ {
			binary.LittleEndian.PutUint64(piece[w*8:], s.text[w].Load())
		}
	}
	for i := range k {
		if r.slot(t+i).state.Load() != done(t+i) {
			return t + 1, gone
		}
	}
	return t + k, ready
}

// maxText is the longest text of a record in bytes; longer messages are cut
// and end in "...".
const maxText = 1024
