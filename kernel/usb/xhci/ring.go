package xhci

import "sync/atomic"

// A Page is a page of memory that the controller also reads and writes, and its physical address.
type Page struct {
	Words *[pageWords]uint32
	PA    uint64
}

const (
	pageBytes = 4096
	pageWords = pageBytes / 4
	trbWords  = 4
	trbBytes  = 4 * trbWords
	ringTRBs  = pageWords / trbWords
)

// load and store access words in the order in which they are called: the controller looks while we write.
func (p *Page) load(i int) uint32     { return atomic.LoadUint32(&p.Words[i]) }
func (p *Page) store(i int, v uint32) { atomic.StoreUint32(&p.Words[i], v) }

func (p *Page) store64(i int, v uint64) {
	p.store(i, uint32(v))
	p.store(i+1, uint32(v>>32))
}

// write and read copy data to the beginning of the page, and from there.
func (p *Page) write(b []byte) {
	for i := 0; i < len(b); i += 4 {
		v := uint32(0)
		for k, c := range b[i:min(i+4, len(b))] {
			v |= uint32(c) << (8 * k)
		}
		p.store(i/4, v)
	}
}

func (p *Page) read(b []byte) {
	for i := range b {
		b[i] = byte(p.load(i/4) >> (i % 4 * 8))
	}
}

// A trb is what rings hold: two words that depend on the kind, a status, and the kind with its bits.
type trb [trbWords]uint32

func (t *trb) kind() uint32    { return t[3] >> kindShift & 0x3f }
func (t *trb) code() uint32    { return t[2] >> 24 }
func (t *trb) pointer() uint64 { return uint64(t[0]) | uint64(t[1])<<32 }

// at is a trb of a kind with a pointer.
func at(pa uint64, kind, bits uint32) trb {
	return trb{uint32(pa), uint32(pa >> 32), 0, kind<<kindShift | bits}
}

// A ring is a queue that we fill and the controller empties. A TRB is the controller's if its cycle bit is that of
// the ring, which changes whenever we come around. The last TRB links to the first.
//
// It cannot overflow: each user waits until what it has queued, three TRBs at most, is done.
type ring struct {
	Page
	next  int
	cycle uint32
}

func newRing(p Page) *ring { return &ring{Page: p, cycle: cycleBit} }

// put queues t and returns its address.
func (r *ring) put(t trb) (pa uint64) {
	pa = r.PA + uint64(r.next)*trbBytes
	r.set(t)
	if r.next == ringTRBs-1 {
		r.set(at(r.PA, trbLink, toggle))
		r.next = 0
		r.cycle ^= cycleBit
	}
	return pa
}

// set writes a TRB, the word with the cycle last.
func (r *ring) set(t trb) {
	i := r.next * trbWords
	for k := range trbWords - 1 {
		r.store(i+k, t[k])
	}
	r.store(i+3, t[3]&^cycleBit|r.cycle)
	r.next++
}

// dequeue is where the controller is to continue: what is queued is forgotten.
func (r *ring) dequeue() uint64 { return r.PA + uint64(r.next)*trbBytes | uint64(r.cycle) }

// events is the queue that the controller fills, of one segment.
type events struct {
	Page
	next  int
	cycle uint32
}

// get takes the next event.
func (e *events) get() (t trb, ok bool) {
	i := e.next * trbWords
	if t[3] = e.load(i + 3); t[3]&cycleBit != e.cycle {
		return t, false
	}
	for k := range trbWords - 1 {
		t[k] = e.load(i + k)
	}
	if e.next++; e.next == ringTRBs {
		e.next = 0
		e.cycle ^= cycleBit
	}
	return t, true
}

// at is the address of the next event.
func (e *events) at() uint64 { return e.PA + uint64(e.next)*trbBytes }
