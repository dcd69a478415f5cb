//go:build tamago

// Package ring tests probe/ring with real writers: handlers of probes, and interrupts that
// interrupt each other at any instruction.
package ring

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/poll"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/probe/ring"
)

func init() {
	suites.Add("ring/handlers_write", handlersWrite)
	suites.Add("ring/writers_interrupt_each_other", writersInterrupt)
	suites.Add("ring/readers_wait_for_handlers", readersWait)
}

// A record says who has written it and how often that one has tried; its size differs.
type record struct {
	writer, number, check uint64
	filler                [16]uint64
}

const least = unsafe.Offsetof(record{}.filler)

// A source writes records, numbered by attempts: what is missing was lost. It is written by one
// writer at a time.
type source struct {
	id, attempts uint64
	_            [48]byte
}

// write is what a handler does.
func (s *source) write(w *ring.Writer) {
	n := s.attempts
	s.attempts++
	p := w.Reserve(least+uintptr(n%17)*8, cpu.Nanotime())
	if p == nil {
		return
	}
	r := (*record)(p)
	r.writer, r.number, r.check = s.id, n, ^n
	for i := range n % 17 {
		r.filler[i] = n + i
	}
	w.Submit()
}

// A reader checks what it takes.
type reader struct {
	r    *ring.Ring
	next map[uint64]uint64 // number that a writer's next record has at least
	read uint64
	room []byte
}

// take takes a record, and reports whether there was one.
func (rd *reader) take(t *suites.T) bool {
	rec, ok := rd.r.Take(rd.room[:0])
	if !ok {
		return false
	}
	rd.room = rec.Data
	rd.read++
	var r record
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), rec.Data)
	whole := uintptr(len(rec.Data)) == least+uintptr(r.number%17)*8 && r.check == ^r.number
	for i := range r.number % 17 {
		whole = whole && r.filler[i] == r.number+i
	}
	if !whole || r.number < rd.next[r.writer] {
		t.Fatalf("CPU %d, at %d: writer %d, number %d after %d, %d bytes", rec.CPU, rec.When, r.writer, r.number, rd.next[r.writer], len(rec.Data))
	}
	rd.next[r.writer] = r.number + 1
	return true
}

// all checks that each attempt was read or counted as lost, after the last reader has ended.
func all(t *suites.T, r *ring.Ring, read uint64, sources []source) {
	attempts := uint64(0)
	for i := range sources {
		attempts += sources[i].attempts
	}
	if l := r.Ledger(); l.Written != read || l.Read != read || l.Written+l.Lost != attempts || l.Discarded != 0 {
		t.Errorf("%d attempts, %d read, but %+v", attempts, read, l)
	}
	t.Logf("%d of %d records did not fit", r.Ledger().Lost, attempts)
}

// handlersWrite: each CPU hits a probe whose handler writes, garbage is collected, and a reader
// is too slow.
func handlersWrite(t *suites.T) {
	r, err := ring.New(cpu.Num(), 4<<10)
	t.Must(err)
	sources := make([]source, cpu.Num())
	for i := range sources {
		sources[i].id = uint64(i)
	}
	k := &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/targets.Leaf", PreHandler: func(_ *kprobes.Kprobe, regs *amd64.Regs) int {
		id := trap.ID(regs)
		sources[id].write(r.Writer(id))
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	var over atomic.Bool
	rd := reader{r: r, next: map[uint64]uint64{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			last := over.Load() // in front of the look
			if !rd.take(t) && last {
				return
			}
			if rd.read%64 == 0 && !last {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	garbage := make(chan struct{})
	go func() {
		defer close(garbage)
		for !over.Load() {
			runtime.GC()
		}
	}()
	calls := suites.Rounds(20_000, 200_000)
	t.Together(func(int) {
		for i := range uint64(calls) {
			targets.Leaf(i, 1)
			if i%256 == 0 {
				runtime.Gosched() // to the reader, which is slow, not dead
			}
		}
	})
	kprobes.UnregisterKprobe(k)
	over.Store(true)
	<-ended
	<-garbage
	all(t, r, rd.read, sources)
	if l := k.Ledger(); l.Handled != uint64(calls*suites.CPUs()) {
		t.Errorf("%d calls, but %+v", calls*suites.CPUs(), l)
	}
}

// Interrupts that write: the first one some records, until the other one has come meanwhile.
const vecOuter, vecInner = 0x93, 0x94

// writersInterrupt: an interrupt that writes comes at any instruction of another one.
func writersInterrupt(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: no other sends interrupts")
	}
	r, err := ring.New(cpu.Num(), 64<<10)
	t.Must(err)
	const id = 1
	w := r.Writer(id)
	sources := []source{{id: 0}, {id: 1}}
	var outer, inner atomic.Uint64 // how many have ended
	trap.SetHandler(vecInner, func(*amd64.Regs) {
		cpu.EOI()
		sources[1].write(w)
		inner.Add(1)
	})
	trap.SetHandler(vecOuter, func(*amd64.Regs) {
		cpu.EOI()
		flags := cpu.IRQOff()
		cpu.IRQRestore(flags | amd64.RFLAGS_IF)
		before := inner.Load()
		for n, end := 0, cpu.Nanotime()+1e9; n < 50 || inner.Load() == before && cpu.Nanotime() < end; n++ {
			sources[0].write(w)
		}
		cpu.IRQOff()
		outer.Add(1)
	})
	rd := reader{r: r, next: map[uint64]uint64{}}
	sent := uint64(0)
	rounds := uint64(suites.Rounds(1_000, 20_000))
	for round := range rounds {
		goruntime.Bind(1 << 0)
		cpu.SendIPI(id, vecOuter)
		for outer.Load() == round || inner.Load() < sent {
			if inner.Load() == sent {
				sent++
				cpu.SendIPI(id, vecInner)
			}
			rd.take(t)
		}
		for rd.take(t) {
		}
	}
	all(t, r, rd.read, sources)
	if t.Logf("%d interrupts came", sent); sent < rounds {
		t.Errorf("fewer than %d came while another one wrote", rounds)
	}
}

// readersWait: a goroutine that waits for a ring continues after a hit.
func readersWait(t *suites.T) {
	r, err := ring.New(cpu.Num(), 4<<10)
	t.Must(err)
	var one source
	k := &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/targets.Leaf", PreHandler: func(_ *kprobes.Kprobe, regs *amd64.Regs) int {
		one.write(r.Writer(trap.ID(regs)))
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	rd := reader{r: r, next: map[uint64]uint64{}}
	for i := range uint64(10) {
		t.Go(func() {
			time.Sleep(5 * time.Millisecond)
			targets.Leaf(i, 1)
		})
		t.Must(poll.Until(r, poll.In, nil))
		if !rd.take(t) {
			t.Errorf("round %d: it went on, but there is nothing", i)
		}
		t.Wait()
	}
	all(t, r, rd.read, []source{one})
}
