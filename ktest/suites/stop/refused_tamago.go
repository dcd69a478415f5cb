//go:build tamago

package stop

import (
	"errors"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("stop/nested_stop_is_refused", nested)
	suites.Add("stop/stop_in_trap_context_is_refused", inTrap)
}

const pkg = "sonde/ktest/suites/stop."

// innerRuns counts how often inner has run.
var innerRuns atomic.Int32

func inner([]*amd64.Regs) error { innerRuns.Add(1); return nil }

func nested(t *suites.T) {
	_, err := smp.StopMachine(func([]*amd64.Regs) error {
		_, err := smp.StopMachine(inner)
		return err
	})
	if !errors.Is(err, syscall.EDEADLK) || innerRuns.Load() != 0 {
		t.Errorf("%v, the inner fn ran %d times", err, innerRuns.Load())
	}
	t.Logf("%v", err)
	well(t)
}

// refused stops the machine where that is not allowed, and counts the refusals.
func refused(n *atomic.Int32) {
	if _, err := smp.StopMachine(nothing); errors.Is(err, syscall.EDEADLK) {
		n.Add(1)
	}
}

// inTrap tries it from a probe handler, from a call on every CPU, and from a
// goroutine with interrupts off.
func inTrap(t *suites.T) {
	var n atomic.Int32
	k := &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/targets.Grow",
		PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { refused(&n); return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	targets.Grow(3)
	hits := int32(k.Hits())
	kprobes.UnregisterKprobe(k)
	if n.Swap(0) != hits || hits == 0 {
		t.Errorf("not refused in each of %d handlers", hits)
	}
	smp.CallAll(func() { refused(&n) })
	if got := n.Swap(0); int(got) != cpu.Num() {
		t.Errorf("refused on %d of %d CPUs called", got, cpu.Num())
	}
	well(t)
}
