//go:build tamago

package stop

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() { suites.Add("stop/interrupt_sent_while_another_is_sent", sentWithin) }

// sentWithin puts a probe on each instruction that sends interrupts. The handler sends one to its own CPU,
// as a handler that wakes a goroutine may: those that were being sent must reach the other CPUs.
func sentWithin(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("there is no other CPU")
	}
	var on atomic.Bool // registering sends some, too
	probed := 0
	code := t.Function("sonde/kernel/cpu.sendICR")
	for at := code.Addr; at < code.End(); at++ {
		k := &kprobes.Kprobe{Addr: uintptr(at), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
			if on.Load() {
				cpu.SendIPI(cpu.ID(), amd64.VecWake)
			}
			return 0
		}}
		if kprobes.RegisterKprobe(k) != nil {
			continue // not where an instruction begins
		}
		probed++
		on.Store(true)
		_, err := smp.StopMachine(nothing)
		if on.Store(false); err != nil {
			t.Errorf("with a probe at %#x: %v", k.Addr-uintptr(code.Addr), err)
		}
		kprobes.UnregisterKprobe(k)
	}
	if probed < 20 {
		t.Errorf("%d instructions have had a probe", probed)
	}
	well(t)
}
