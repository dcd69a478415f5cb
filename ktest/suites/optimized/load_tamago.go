//go:build tamago

package optimized

import (
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
)

func init() {
	suites.Add("optimized/a_million_hits", func(t *suites.T) { manyHits(t, 1_000_000) })
	suites.Add("optimized/hundred_million_hits", func(t *suites.T) {
		t.NeedsLong()
		manyHits(t, 100_000_000)
	})
}

// Functions for one kind of probe each.
//
//go:noinline
func loadK(n uint64) uint64 { return n*3 + 1 }

//go:noinline
func loadB(n uint64) uint64 { return n*5 + 1 }

//go:noinline
func loadR(n uint64) uint64 { return n*7 + 1 }

//go:noinline
func loadKR(n uint64) uint64 { return n*9 + 1 }

//go:noinline
func loadJ(n uint64) uint64 { return n*11 + 1 }

//go:noinline
func loadX(n uint64) uint64 { return n*13 + 1 }

//go:noinline
func loadW(n uint64) uint64 { loadWord = n; return n*15 + 1 }

//go:noinline
func loadInner(n uint64) uint64 { return n*17 + 1 }

// loadWord is written by a plain instruction: QEMU sometimes reports an XCHG twice on several CPUs
// (docs/decisions.md).
var loadWord uint64

// A burden is a kind of probe, with what became of its hits.
type burden struct {
	name   string
	call   func(n uint64) uint64
	factor uint64 // call(n) is n*factor + 1
	share  int    // calls of a thousand in a round
	ledger func() kprobes.Ledger
	remove func()
}

// loads returns the kinds. The cheapest kinds get most of the hits; one function is called by a
// handler, so that its hits are missed.
func loads(t *suites.T) (all []*burden, inHandler *kprobes.Kprobe) {
	kprobe := func(name string, f func(uint64) uint64, factor uint64, share int, k *kprobes.Kprobe) {
		k.Addr = entry(f)
		register(t, k)
		all = append(all, &burden{name, f, factor, share, k.Ledger, func() { kprobes.UnregisterKprobe(k) }})
	}
	returns := func(name string, f func(uint64) uint64, factor uint64, share int) {
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)}, Handler: ret, MaxActive: 256}
		t.Must(kprobes.RegisterKretprobe(rp))
		all = append(all, &burden{name, f, factor, share, rp.Ledger, func() { kprobes.UnregisterKretprobe(rp) }})
	}
	watch := func(name string, f func(uint64) uint64, factor uint64, addr uintptr, length int, typ kwatch.Type) {
		var last kprobes.Ledger
		reg, err := kwatch.RegisterKwatch(addr, length, typ, func(*kwatch.Hit, *amd64.Regs) {})
		t.Must(err)
		ledger := func() kprobes.Ledger {
			for _, i := range kwatch.All() {
				if i.DebugReg == reg {
					last = i.Ledger
				}
			}
			return last
		}
		all = append(all, &burden{name, f, factor, 4, ledger, func() { ledger(); t.Must(kwatch.UnregisterKwatch(reg)) }})
	}
	inHandler = at(entry(loadInner), pre)
	register(t, inHandler)
	kprobe("kprobe", loadB, 5, 500, at(0, pre))
	returns("return probe", loadR, 7, 250)
	kprobe("kprobe that steps", loadK, 3, 40, &kprobes.Kprobe{PreHandler: pre, PostHandler: post})
	kprobe("kprobe of two", loadKR, 9, 100, at(0, func(*kprobes.Kprobe, *amd64.Regs) int { loadInner(1); return 0 }))
	returns("return probe of two", loadKR, 9, 0)
	j := kprobes.NewJprobe(loadJ, func(uint64) uint64 { kprobes.JprobeReturn(); return 0 })
	t.Must(kprobes.RegisterJprobe(j))
	all = append(all, &burden{"jprobe", loadJ, 11, 30, j.KP.Ledger, func() { kprobes.UnregisterJprobe(j) }})
	watch("execute watchpoint", loadX, 13, entry(loadX), 1, kwatch.Execute)
	watch("write watchpoint", loadW, 15, uintptr(unsafe.Pointer(&loadWord)), 8, kwatch.Write)
	return all, inHandler
}

// carry makes a thousandth of n calls, on one CPU.
func carry(t *suites.T, all []*burden, thousand int) {
	for i := range thousand {
		for _, b := range all {
			for n := range uint64(b.share) {
				if got := b.call(n); got != n*b.factor+1 {
					t.Fatalf("%s: round %d: %d*%d+1 is %d", b.name, i, n, b.factor, got)
				}
			}
		}
	}
}

// manyHits makes at least n hits, of all kinds, on all CPUs, by jumps and now and then by
// breakpoints. Each must be in its ledger.
func manyHits(t *suites.T, n uint64) {
	defer setSysctl(t, "1")
	all, inner := loads(t)
	perThousand := uint64(0) // hits
	for _, b := range all {
		perThousand += uint64(b.share)
		if b.name == "kprobe of two" {
			perThousand += 2 * uint64(b.share) // the return probe's and the inner one's
		}
	}
	const rounds = 100
	each := int(n/rounds/perThousand/uint64(cpu.Num())) + 1
	start, done := time.Now(), uint64(0) // thousands
	for round := range rounds {
		setSysctl(t, map[bool]string{true: "0", false: "1"}[round%10 == 9])
		if round%10 != 9 {
			optimize(t)
		}
		for range cpu.Num() {
			t.Go(func() { carry(t, all, each) })
		}
		t.Wait()
		if done += uint64(each * cpu.Num()); t.Failed() {
			break
		}
	}
	took := time.Since(start)
	kprobes.UnregisterKprobe(inner)
	total := inner.Ledger().Entered
	if l := inner.Ledger(); l.Entered != 100*done || l.Recursion != l.Entered {
		t.Errorf("in a handler: %+v, want %d, all missed", l, 100*done)
	}
	for _, b := range all {
		b.remove()
		want := uint64(b.share) * done
		if b.name == "return probe of two" {
			want = 100 * done
		}
		l := b.ledger()
		total += l.Entered
		if l.Entered != want || l.Handled != want || l.Unexplained() != 0 {
			t.Errorf("%s: %+v, unexplained %d; want %d hits", b.name, l, l.Unexplained(), want)
		}
	}
	t.Logf("count: load/hits %d", total)
	t.Logf("%d hits in %v: %d ns each, on %d CPUs", total, took.Round(time.Second), took.Nanoseconds()*int64(cpu.Num())/int64(total), cpu.Num())
	if total < n {
		t.Errorf("%d hits of %d", total, n)
	}
	clean(t)
}
