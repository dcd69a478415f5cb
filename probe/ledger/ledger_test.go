package ledger

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFlags(t *testing.T) {
	var f Flags
	if f.Has(3) || !f.Set(1) || f.Set(3) || !f.Has(2) {
		t.Errorf("%b", f)
	}
	f.Clear(1)
	if f.Has(1) || f != 2 {
		t.Errorf("%b", f)
	}
}

func TestAccounts(t *testing.T) {
	var a Accounts
	if a.Ledger() != (Ledger{}) {
		t.Error("accounts that are not open are not empty")
	}
	a.Open(3)
	for cpu := range 3 {
		a.Count(cpu, Entered)
		a.Count(cpu, Handled)
	}
	a.CountNested(2, Missed)
	a.Count(1, Entered)
	a.Count(1, Handled)
	a.Uncount(1, Handled)
	a.CountNested(1, Abandoned)
	want := Ledger{Entered: 5, Handled: 3, Recursion: 1, Abandoned: 1}
	if got := a.Ledger(); got != want || got.Unexplained() != 0 || got.Missed() != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := want.Plus(want); got != (Ledger{Entered: 10, Handled: 6, Recursion: 2, Abandoned: 2}) {
		t.Errorf("twice: %+v", got)
	}
	for _, e := range []Event{NoInst, Disarmed, Recursion, Declined} { // each explains a hit
		a.Count(0, Entered)
		a.Count(0, e)
		if got := a.Ledger(); got.Unexplained() != 0 || (got.Missed() == want.Missed()) != (e == Declined) {
			t.Errorf("event %d: %+v", e, got)
		}
		want = a.Ledger()
	}
	was := a.Ledger()
	a.Count(2, Called)
	was.Entered, was.Handled = was.Entered+1, was.Handled+1
	if got := a.Ledger(); got != was || got.Unexplained() != 0 {
		t.Errorf("called: %+v, want %+v", got, was)
	}
	a.Count(0, Entered)
	if n := a.Ledger().Unexplained(); n != 1 {
		t.Errorf("%d unexplained, want 1", n)
	}
	a.Open(3)
	if got := a.Ledger(); got != (Ledger{}) {
		t.Errorf("opened again: %+v", got)
	}
}

func TestListIsReplaced(t *testing.T) {
	var l List[int]
	if l.First() != nil || l.All() != nil {
		t.Error("not empty")
	}
	a, b, c := new(int), new(int), new(int)
	l.Add(a)
	old := l.All()
	if was := l.Add(b); *was != a {
		t.Error("another list was replaced")
	}
	l.Add(c)
	l.Remove(b)
	if got := l.All(); !slices.Equal(got, []*int{a, c}) || !slices.Equal(old, []*int{a}) {
		t.Error(got, old)
	}
	l.Remove(a)
	l.Remove(c)
	if first := l.First(); first == nil || *first != nil || len(l.All()) != 0 {
		t.Error("not empty in the end")
	}
}

// TestTable compares a table with a map, through growth and removal.
func TestTable(t *testing.T) {
	type place struct{ addr uintptr }
	var table Table[place]
	want := map[uintptr]*place{}
	for i := range 20_000 {
		addr := uintptr(rand.IntN(3000)+1) * 16
		if want[addr] != nil {
			table.Remove(addr)
			delete(want, addr)
		} else {
			want[addr] = &place{addr}
			table.Insert(want[addr])
		}
		probe := uintptr(rand.IntN(3000)+1) * 16
		if got := table.Find(probe); got != want[probe] {
			t.Fatalf("%d: %#x: %v, want %v", i, probe, got, want[probe])
		}
		if got := table.First(probe); got != nil && got.addr == probe && got != want[probe] {
			t.Fatalf("%d: first %#x: %v, want %v", i, probe, got, want[probe])
		}
	}
	n := 0
	for v := range table.All {
		if want[v.addr] != v {
			t.Errorf("%#x is not in the table", v.addr)
		}
		n++
	}
	if n != len(want) || table.Len() != n {
		t.Errorf("%d of %d, Len %d", n, len(want), table.Len())
	}
	table.Remove(1) // never was there
}

// TestTableFillsGaps: what comes and goes does not make the way to it longer.
func TestTableFillsGaps(t *testing.T) {
	var table Table[uintptr]
	addr := uintptr(0x1000)
	for range 1000 {
		table.Insert(&addr)
		if table.First(addr) != &addr {
			t.Fatal("it is not where one looks first")
		}
		table.Remove(addr)
	}
	if n := len(*table.p.Load()); n != minEntries {
		t.Errorf("%d entries", n)
	}
}

// TestTableIsReadWhileItChanges: who looks for what stays there finds it, and
// nobody finds what belongs elsewhere.
func TestTableIsReadWhileItChanges(t *testing.T) {
	type place struct{ addr uintptr }
	var table Table[place]
	for i := uintptr(1); i <= 40; i++ {
		table.Insert(&place{i})
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for i := uintptr(1); i <= 200; i++ {
					got := table.Find(i)
					if got == nil && i <= 40 || got != nil && got.addr != i {
						t.Errorf("%d: %v", i, got)
						return
					}
				}
			}
		})
	}
	for range 3000 {
		for i := uintptr(41); i <= 60; i++ {
			table.Insert(&place{i})
		}
		for i := uintptr(41); i <= 60; i++ {
			table.Remove(i)
		}
	}
	close(stop)
	readers.Wait()
}

func TestHitsDoNotAllocate(t *testing.T) {
	var table Table[uintptr]
	var a Accounts
	a.Open(2)
	at8 := uintptr(8)
	table.Insert(&at8)
	if n := testing.AllocsPerRun(100, func() { table.Find(8); table.Find(9); a.Count(1, Entered); a.CountNested(0, Missed) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLedgerIsWholeAtEveryMoment: however a reader's look at the counters falls between what a hit counts, the hit is
// not missing. A reader used to find hits nowhere that ended while it looked.
func TestLedgerIsWholeAtEveryMoment(t *testing.T) {
	const counts = 4 // of a hit: in flight, entered, handled, no more in flight
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var n [counts]int64
		done := 0
		count := func() {
			for range rnd.IntN(counts + 2) {
				n[done%counts]++
				done++
			}
		}
		l := settled(func() uint64 { count(); return uint64(n[1]) }, func() int64 { count(); return n[0] - n[3] },
			func() Ledger { count(); return Ledger{Handled: uint64(n[2])} })
		if l.Unexplained() != 0 || l.Entered != uint64(n[1]) || l.Handled > l.Entered {
			t.Fatalf("%+v, %d unexplained", l, l.Unexplained())
		}
	}
}

// TestLedgerIsWholeWhileItIsWritten: what is not in flight any more has been counted before.
func TestLedgerIsWholeWhileItIsWritten(t *testing.T) {
	var c Counter
	var over atomic.Bool
	var writers sync.WaitGroup
	for _, e := range []Event{Handled, NoInst, Abandoned} {
		writers.Go(func() {
			for !over.Load() {
				c.Begin()
				c.End(e)
			}
		})
	}
	for range 200_000 {
		if l := c.Ledger(); l.Unexplained() != 0 {
			t.Errorf("%+v: %d are unexplained", l, l.Unexplained())
			break
		}
	}
	over.Store(true)
	writers.Wait()
	if l := c.Ledger(); l.Unexplained() != 0 || l.InFlight != 0 {
		t.Errorf("%+v", l)
	}
}

// TestUnset: a place without a probe is a miss that is no hit, and keeps the first reason.
func TestUnset(t *testing.T) {
	var c Counter
	if l := c.Ledger(); l.Loss() != "" {
		t.Errorf("%q", l.Loss())
	}
	c.Unset(errors.New("the first"))
	c.Unset(errors.New("the second"))
	c.Begin()
	c.End(NoInst)
	l := c.Ledger()
	if l.Unset != 2 || l.Missed() != 3 || l.Unexplained() != 0 || l.Loss() != "unset at 2 of its places in programs: the first" {
		t.Errorf("%+v: %d missed, %q", l, l.Missed(), l.Loss())
	}
	if sum := l.Plus(Ledger{}).Plus(l); sum.Unset != 4 || sum.Why != "the first" {
		t.Errorf("%+v", sum)
	}
}
