//go:build tamago

package returns

import (
	"encoding/binary"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/handler_called_once_per_return", oncePerReturn)
	suites.Add("returns/entry_data_reaches_the_return_handler", entryData)
	suites.Add("returns/entry_handler_declines", declines)
	suites.Add("returns/max_active_defaults_to_cpus", defaultMaxActive)
	suites.Add("returns/nmissed_is_exact", nmissedIsExact)
	suites.Add("returns/nmissed_begins_at_zero", nmissedFromZero)
	suites.Add("returns/every_kind_of_function", everyFunction)
}

// oncePerReturn also has a kprobe at the entry, registered first: it sees the
// return address before the return probe replaces it.
func oncePerReturn(t *suites.T) {
	const calls = 1000
	var n, sum, wrongAddr, wrongProbe, trueAddr uint64
	k := &kprobes.Kprobe{Addr: entry(targets.Leaf), PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		trueAddr = peek(r.SP)
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	var rp *kprobes.Kretprobe
	rp = on(targets.Leaf, func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
		n++
		sum += kprobes.RegsReturnValue(r)
		if uint64(ri.RetAddr) != trueAddr || r.IP != trueAddr {
			wrongAddr++
		}
		if ri.RP != rp {
			wrongProbe++
		}
		return 1 // ignored
	})
	remove := register(t, rp)
	var want uint64
	for i := range uint64(calls) {
		want += targets.Leaf(i, 2*i)
	}
	remove()
	suites.Equal(t, "handler calls", n, calls)
	suites.Equal(t, "Hits", rp.Hits(), calls)
	suites.Equal(t, "sum of the return values", sum, want)
	suites.Equal(t, "wrong return addresses", wrongAddr, 0)
	suites.Equal(t, "wrong RP", wrongProbe, 0)
	if name, _, _, _ := kallsyms.Lookup(trueAddr); name != "sonde/ktest/suites/returns.oncePerReturn" {
		t.Errorf("Leaf returns to %s", name)
	}
}

// entryData runs on all CPUs: each handler finds what its own entry left.
func entryData(t *suites.T) {
	var n, wrong, wrongTask, notZero atomic.Uint64
	rp := on(targets.Count, func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
		n.Add(1)
		if kprobes.RegsReturnValue(r) != targets.CountWant(binary.LittleEndian.Uint64(ri.Data)) {
			wrong.Add(1)
		}
		if uint64(ri.Task) != binary.LittleEndian.Uint64(ri.Data[8:]) || ri.Task == 0 {
			wrongTask.Add(1)
		}
		return 0
	})
	rp.DataSize = 16
	rp.EntryHandler = func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
		if len(ri.Data) != 16 || ri.RP != rp {
			notZero.Add(1)
			return 1
		}
		binary.LittleEndian.PutUint64(ri.Data, r.AX)
		binary.LittleEndian.PutUint64(ri.Data[8:], uint64(ri.Task))
		return 0
	}
	remove := register(t, rp)
	const calls = 2000
	t.Together(func(i int) {
		for j := range uint64(calls) {
			if a := uint64(i)<<32 + j; targets.Count(a) != targets.CountWant(a) {
				t.Fatalf("Count(%d) is wrong", a)
			}
		}
	})
	remove()
	suites.Equal(t, "handler calls", n.Load(), calls*uint64(cpu.Num()))
	suites.Equal(t, "wrong data", wrong.Load(), 0)
	suites.Equal(t, "wrong task", wrongTask.Load(), 0)
	suites.Equal(t, "instances without data", notZero.Load(), 0)
}

func declines(t *suites.T) {
	var n, odd uint64
	rp := on(targets.Leaf, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		n++
		odd += kprobes.RegsReturnValue(r) & 1
		return 0
	})
	rp.EntryHandler = func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { return int(r.AX & 1) }
	remove := register(t, rp)
	for i := range uint64(300) {
		suites.Equal(t, "Leaf", targets.Leaf(i, 0), 3*i)
	}
	remove()
	suites.Equal(t, "handler calls", n, 150)
	suites.Equal(t, "handler calls for what was declined", odd, 0)
	l := rp.Ledger()
	suites.Equal(t, "Declined", l.Declined, 150)
	suites.Equal(t, "Handled", l.Handled, 150)
	suites.Equal(t, "NMissed", rp.NMissed(), 0)
}

func defaultMaxActive(t *suites.T) {
	for _, n := range []int{0, -7} {
		rp := on(targets.Fib, nothing)
		rp.MaxActive = n
		remove := register(t, rp)
		suites.Equal(t, "MaxActive", uint64(rp.MaxActive), uint64(cpu.Num()))
		remove()
	}
}

// nmissedIsExact recurses: of depth calls only the outer MaxActive get an
// instance. The entry handler is not called for the others.
func nmissedIsExact(t *suites.T) {
	const depth = 20
	for _, max := range []int{1, 2, 7, depth - 1, depth, depth + 5} {
		var entries uint64
		rp := on(targets.Grow, nothing)
		rp.MaxActive = max
		rp.EntryHandler = func(*kprobes.KretprobeInstance, *amd64.Regs) int { entries++; return 0 }
		remove := register(t, rp)
		for range 3 {
			suites.Equal(t, "Grow", targets.Grow(depth-1), depth*(depth-1)/2)
		}
		remove()
		got := uint64(min(max, depth))
		suites.Equal(t, "Handled", rp.Hits(), 3*got)
		suites.Equal(t, "entry handler calls", entries, 3*got)
		suites.Equal(t, "NMissed", rp.NMissed(), 3*(depth-got))
		suites.Equal(t, "NoInst", rp.Ledger().NoInst, 3*(depth-got))
	}
}

// nmissedFromZero registers one probe twice: nothing is left of the first time.
func nmissedFromZero(t *suites.T) {
	rp := on(targets.Grow, nothing)
	rp.MaxActive = 1
	for range 2 {
		remove := register(t, rp)
		suites.Equal(t, "NMissed at registration", rp.NMissed(), 0)
		suites.Equal(t, "Grow", targets.Grow(4), 10)
		remove()
		suites.Equal(t, "NMissed", rp.NMissed(), 4)
		rp.KP.Addr = entry(targets.Grow)
	}
}

// everyFunction probes each form of function: frames of all sizes, results in
// all registers, methods, generics, deferred calls.
func everyFunction(t *suites.T) {
	for _, f := range targets.Funcs() {
		rp := &kprobes.Kretprobe{Handler: nothing, MaxActive: 64}
		rp.KP.SymbolName = "sonde/ktest/suites/targets." + f.Name
		remove := register(t, rp)
		for range 10 {
			suites.Equal(t, f.Name, f.Call(), f.Want)
		}
		remove()
		suites.Equal(t, f.Name+" hits", rp.Hits(), 10*f.Calls)
		suites.Equal(t, f.Name+" missed", rp.NMissed(), 0)
	}
}
