//go:build tamago

package optimized

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/handler_with_floating_point", floats)
	suites.Add("optimized/sse_handlers_come_and_go", sseComesAndGoes)
}

// floats makes handlers calculate while the probed function does.
func floats(t *suites.T) {
	sum := 0.
	k := at(entry(targets.Float), func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		x := trap.XMM(r)
		a := math.Float64frombits(binary.LittleEndian.Uint64(x[0][:]))
		b := math.Float64frombits(binary.LittleEndian.Uint64(x[1][:]))
		sum += a*2 + b
		return 0
	})
	optimized(t, k)
	want := 0.
	for i := range 100 {
		a, b := float64(i), float64(i)+0.5
		want += a*2 + b
		if got := targets.Float(a, b); got != (a+b)*(a-b)+a/b {
			t.Errorf("Float(%v, %v) is %v", a, b, got)
		}
	}
	kprobes.UnregisterKprobe(k)
	account(t, k, "Float", 100, 0)
	if sum != want {
		t.Errorf("the handler saw arguments that make %v, want %v", sum, want)
	}
}

// sseComesAndGoes adds and removes a handler that changes all SSE registers next
// to one that changes none. A hit used to ask the point whether to save them, and
// then to call a handler that had come since.
func sseComesAndGoes(t *suites.T) {
	for _, breakpoint := range []bool{false, true} {
		stay := at(entry(targets.Float), pre)
		if breakpoint {
			stay.PostHandler = post
		}
		register(t, stay)
		var stop atomic.Bool
		var calls atomic.Uint64
		for range cpu.Num() {
			t.Go(func() {
				for n := uint64(1); !stop.Load(); n++ {
					if got := targets.Float(3, 2); got != 6.5 {
						t.Fatalf("Float(3, 2) is %v", got)
					}
					if n%256 == 0 {
						runtime.Gosched()
					}
					calls.Add(1)
				}
			})
		}
		for range suites.Rounds(150, 400) {
			optimize(t)
			k := at(entry(targets.Float), func(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 })
			register(t, k)
			kprobes.UnregisterKprobe(k)
			account(t, k, "the handler that comes and goes", k.Hits(), 0)
		}
		stop.Store(true)
		t.Wait()
		kprobes.UnregisterKprobe(stay)
		account(t, stay, "the one that stays", calls.Load(), 0)
	}
	clean(t)
}
