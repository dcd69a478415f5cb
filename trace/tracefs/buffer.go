package tracefs

import (
	"encoding/binary"
	"slices"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/refusal"
	"sonde/probe/program"
	"sonde/probe/ring"
)

// ringSize is how many bytes of records a CPU can have before they are taken, defaultSize how many are kept, as in
// Linux.
const (
	ringSize    = 256 << 10
	defaultSize = 1408 << 10
)

// A buffer is what an instance has recorded. The ring has what was recorded last; it is taken from there when somebody
// reads, and at each takePeriod.
type buffer struct {
	sync.Mutex
	ring *program.Map // nil: nothing was ever recorded

	// guarded by Mutex:
	limit       int         // bytes that a CPU keeps
	perCPU      map[int]int // the same, of those for which it differs
	keepsOldest bool        // where there is no room, the new record is dropped
	cpus        []kept
	spare       []kept // the snapshot; nil: there is none
}

// kept is a CPU's records, the oldest first.
type kept struct {
	records []record
	bytes   int
	overrun uint64 // dropped to make room
	dropped uint64 // as there was no room
	read    uint64 // by trace_pipe
}

// A record is one, with the name of what ran before it.
type record struct {
	when int64 // ns since boot
	cpu  int
	data []byte
}

// id is the number of its event.
func (r *record) id() int { return int(binary.LittleEndian.Uint16(r.data[recordAt:])) }

const takePeriod = 10 * time.Millisecond

// header is how many bytes Linux's ring has before each record.
const header = 8

// run takes records until it is stopped, which may be before it begins: then another one may be the taker by now.
func (i *instance) run(stop chan struct{}) {
	mu.Lock()
	select {
	case <-stop:
	default:
		i.word(taker, program.Self())
	}
	mu.Unlock()
	for {
		select {
		case <-stop:
			return
		case <-time.After(takePeriod):
			i.Lock()
			i.drain()
			i.Unlock()
		}
	}
}

// comeUp makes room for the records of all CPUs.
func (b *buffer) comeUp(n int) {
	b.Lock()
	defer b.Unlock()
	if len(b.cpus) < n {
		b.cpus = append(b.cpus, make([]kept, n-len(b.cpus))...)
	}
}

// drain takes what the ring has, but not what comes meanwhile: reading may make more. Called with Mutex held.
func (b *buffer) drain() {
	if b.ring == nil {
		return
	}
	for until := now(); ; {
		rec, ok := b.ring.Take(nil)
		if !ok {
			return
		}
		b.add(record{rec.When, rec.CPU, rec.Data})
		if rec.When > until {
			return
		}
	}
}

// add keeps a record, and drops the oldest ones, or this one, if there is no room. Called with Mutex held.
func (b *buffer) add(r record) {
	if len(r.data) < recordAt+commonSize {
		return
	}
	switch r.id() {
	case snapshotID:
		b.swap()
		return
	case printID:
		at := recordAt + printEvent.fields[1].at
		r.data = slices.Clone(r.data[:at+len(cString(r.data[at:]))+1]) // the rest would be kept, too
	}
	if r.cpu >= len(b.cpus) {
		b.cpus = append(b.cpus, make([]kept, r.cpu+1-len(b.cpus))...)
	}
	k, size := &b.cpus[r.cpu], len(r.data)-recordAt+header
	if b.keepsOldest && k.bytes+size > b.sizeOf(r.cpu) {
		k.dropped++
		return
	}
	k.records = append(k.records, r)
	k.bytes += size
	b.trim(r.cpu)
}

func (b *buffer) sizeOf(cpu int) int {
	if n, ok := b.perCPU[cpu]; ok {
		return n
	}
	return b.limit
}

func (b *buffer) trim(cpu int) {
	k := &b.cpus[cpu]
	drop := 0
	for k.bytes > b.sizeOf(cpu) && drop < len(k.records) {
		k.bytes -= len(k.records[drop].data) - recordAt + header
		drop++
	}
	k.overrun += uint64(drop)
	k.records = k.records[drop:]
}

// total is how many bytes are kept of all CPUs, without a snapshot's.
func (b *buffer) total() (sum int) {
	b.Lock()
	defer b.Unlock()
	for cpu := range numCPU() {
		sum += b.sizeOf(cpu)
	}
	return sum
}

// room tells whether so many bytes more can be kept. Called with mu held.
//
// Errors: ENOMEM.
func room(more int) error {
	for _, i := range instances() {
		more += i.total()
	}
	if more > mostKept {
		return refusal.New(syscall.ENOMEM, "%d KiB of records: all instances together may have %d", more>>10, mostKept>>10)
	}
	return nil
}

// resize sets how many bytes are kept of a CPU, or of each (-1). Called with mu held.
//
// Errors: ENOMEM.
func (b *buffer) resize(cpu, bytes int) error {
	more := bytes*numCPU() - b.total()
	if cpu >= 0 {
		b.Lock()
		more = bytes - b.sizeOf(cpu)
		b.Unlock()
	}
	if more > 0 {
		if err := room(more); err != nil {
			return err
		}
	}
	b.Lock()
	defer b.Unlock()
	if cpu < 0 {
		b.limit = bytes
		clear(b.perCPU)
	} else {
		b.perCPU[cpu] = bytes
	}
	for n := range b.cpus {
		b.trim(n)
	}
	return nil
}

// clear forgets the records of a CPU, or of all (-1).
func (b *buffer) clear(cpu int) {
	b.Lock()
	defer b.Unlock()
	b.drain()
	for n := range b.cpus {
		if cpu < 0 || cpu == n {
			b.cpus[n] = kept{}
		}
	}
}

// all returns the records of a CPU, or of all (-1), by time, and how many there were.
func (b *buffer) all(cpu int) (records []record, written uint64) {
	b.Lock()
	defer b.Unlock()
	b.drain()
	return b.sorted(b.cpus, cpu)
}

func (b *buffer) sorted(from []kept, cpu int) (records []record, written uint64) {
	for n := range from {
		if k := &from[n]; cpu < 0 || cpu == n {
			records = append(records, k.records...)
			written += uint64(len(k.records)) + k.overrun
		}
	}
	slices.SortStableFunc(records, func(a, c record) int { return int(a.when - c.when) })
	return records, written
}

// pop takes the oldest record of a CPU, or of all (-1).
func (b *buffer) pop(cpu int) (r record, ok bool) {
	b.Lock()
	defer b.Unlock()
	b.drain()
	from := -1
	for n := range b.cpus {
		if k := &b.cpus[n]; (cpu < 0 || cpu == n) && len(k.records) > 0 && (from < 0 || k.records[0].when < b.cpus[from].records[0].when) {
			from = n
		}
	}
	if from < 0 {
		return r, false
	}
	k := &b.cpus[from]
	r, k.records = k.records[0], k.records[1:]
	k.bytes -= len(r.data) - recordAt + header
	k.read++
	return r, true
}

// filled tells whether a CPU, or any (-1), has records.
func (b *buffer) filled(cpu int) bool {
	b.Lock()
	defer b.Unlock()
	b.drain()
	for n := range b.cpus {
		if (cpu < 0 || cpu == n) && len(b.cpus[n].records) > 0 {
			return true
		}
	}
	return false
}

// lost is how many records the ring had no room for. Called with Mutex held.
func (b *buffer) lost() uint64 {
	if b.ring == nil {
		return 0
	}
	return b.ring.Lost()
}

// snapshot exchanges what was recorded with what is kept, which is nothing at first; or forgets what is kept.
func (b *buffer) snapshot(keep bool) {
	b.Lock()
	defer b.Unlock()
	if b.drain(); keep {
		b.swap()
	} else {
		b.spare = nil
	}
}

// allocate makes room for a snapshot.
func (b *buffer) allocate() {
	b.Lock()
	defer b.Unlock()
	if b.spare == nil {
		b.spare = []kept{}
	}
}

// swap is snapshot. Called with Mutex held.
func (b *buffer) swap() {
	if b.spare == nil {
		b.spare = make([]kept, max(1, len(b.cpus)))
	}
	b.spare, b.cpus = b.cpus, b.spare
	if b.spare == nil {
		b.spare = []kept{}
	}
}

// A pipe is an open trace_pipe: its text is what it takes. It implements ctl.Feed.
type pipe struct {
	of      *instance
	cpu     int
	waiters ring.Waiters
}

func (p *pipe) Queue() *poll.Queue { return p.waiters.Queue() }

func (p *pipe) Poll() poll.Events { return p.waiters.Poll(func() bool { return p.of.filled(p.cpu) }) }

func (p *pipe) Close() error { return nil }

// mostAtOnce is how many records a read takes at most.
const mostAtOnce = 64

func (p *pipe) Next(room []byte) []byte {
	for range mostAtOnce {
		r, ok := p.of.pop(p.cpu)
		if !ok {
			break
		}
		room = appendLocked(room, r)
	}
	return room
}

// appendLocked is appendRecord for whoever does not hold mu.
func appendLocked(room []byte, r record) []byte {
	mu.Lock()
	defer mu.Unlock()
	return appendRecord(room, r)
}
