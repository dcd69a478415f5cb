//go:build tamago

package stop

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
)

func init() { suites.Add("stop/nmi_of_a_held_cpu_is_waited_for", heldInNMI) }

// vecLate is an interrupt whose handler delays a CPU's stop.
const vecLate = 0x92

// heldInNMI: one CPU comes late to a stop. Before it comes, it sends an NMI to one that is held
// already. That CPU executes handlers of NMIs, which fn may change: so fn has to wait.
func heldInNMI(t *suites.T) {
	if cpu.Num() < 3 {
		t.Skipf("%d CPUs: one is to stop the others, one to be held, one to be late", cpu.Num())
	}
	defer smp.StopLimit(smp.StopLimit(10 * time.Second))
	var target, came, late, inside, caught atomic.Int32
	defer suites.OnNMI(func(r *amd64.Regs) notifier.Action {
		if int32(trap.ID(r)) != target.Load() || late.Load() == 0 {
			return notifier.Next
		}
		inside.Store(1)
		for end := cpu.Nanotime() + 5e9; late.Load() != 0 && cpu.Nanotime() < end; {
			cpu.Pause()
		}
		cpu.Delay(50e6) // the late one is held now
		inside.Store(0)
		return notifier.Stop
	})()
	trap.SetHandler(vecLate, func(*amd64.Regs) {
		cpu.EOI()
		late.Store(1)
		came.Add(1)
		cpu.Delay(50e6) // the others are held now
		cpu.SendNMI(int(target.Load()))
		for end := cpu.Nanotime() + 5e9; inside.Load() == 0 && cpu.Nanotime() < end; {
			cpu.Pause()
		}
		late.Store(0)
	})
	met, end := 0, time.Now().Add(suites.Limit)
	for i := int32(0); met < 5 && time.Now().Before(end); i++ {
		self := cpu.ID()
		target.Store(int32((self + 1) % cpu.Num()))
		cpu.SendIPI((self+2)%cpu.Num(), vecLate)
		t.Until("a CPU to be late", func() bool { return came.Load() > i })
		if late.Load() != 0 { // else this CPU has missed it: it lasts some 50 ms
			met++
		}
		_, err := smp.StopMachine(func([]*amd64.Regs) error {
			if cpu.ID() == self { // else it was the stopper's NMI, or the late one's
				caught.Add(inside.Load())
			}
			return nil
		})
		t.Must(err)
		t.Until("the NMI's end", func() bool { return inside.Load() == 0 })
	}
	if met == 0 {
		t.Errorf("no stop began while a CPU was late")
	}
	if n := caught.Load(); n != 0 {
		t.Errorf("fn ran %d times while a CPU was in an NMI", n)
	}
}
