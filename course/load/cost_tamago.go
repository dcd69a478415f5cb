//go:build tamago

package load

import (
	"syscall"

	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kprobes"
)

// without is what a call took when there was no probe, in thousandths of a ns.
var without int64

// cost measures what a call of a function takes, and how much of that a probe takes: NAME,CALLS. In a
// machine that counts, a nanosecond is an instruction.
func cost(args []string) error {
	f, ok := targets[args[0]]
	if !ok {
		return refusal.New(syscall.EINVAL, "%q is no function of this package", args[0])
	}
	n, err := numbers(args[1])
	if err != nil {
		return err
	}
	least := int64(1 << 62) // of several rounds: interrupts take time, too
	for range 5 {
		begun := cpu.Nanotime()
		for i := range n[0] {
			f(i)
		}
		least = min(least, (cpu.Nanotime()-begun)*1000/int64(n[0]))
	}
	if len(kprobes.All()) == 0 {
		without = least
	}
	report("call", "%d", least/1000)
	report("cost", "%d", (least-without)/1000)
	return nil
}
