//go:build tamago

package traps

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/text"
	"sonde/ktest/suites"
)

func init() { suites.Add("traps/nmi_before_a_halt_skips_it", nmiBeforeHalt) }

// nmiBeforeHalt sends NMIs to CPUs that become idle. None may continue at the HLT of an idle CPU: the
// interrupt that was to wake it comes before that, and would be lost.
func nmiBeforeHalt(t *suites.T) {
	if cpu.Num() < 2 {
		t.Skipf("one CPU: it is not idle while it sends")
	}
	sym, err := kallsyms.Resolve("cpu.haltOnce")
	t.Must(err)
	const hlt = 0xf4
	halt := sym.Addr + 1
	if code := text.Bytes(uintptr(sym.Addr), 2); code[1] != hlt {
		t.Fatalf("% x is not STI and HLT", code)
	}
	var at, behind atomic.Int64
	defer suites.OnNMI(func(r *amd64.Regs) notifier.Action {
		switch r.IP {
		case halt:
			at.Add(1)
		case halt + 1:
			behind.Add(1)
		}
		return notifier.Stop
	})()
	ping, pong := make(chan int), make(chan int)
	t.Go(func() {
		for i := range ping {
			pong <- i
		}
		close(pong)
	})
	for i := range suites.Rounds(20_000, 200_000) {
		ping <- i
		<-pong
		cpu.Delay(int64(i%500) * 200) // the other CPU becomes idle meanwhile
		for other := range cpu.Num() {
			if other != cpu.ID() {
				cpu.SendNMI(other)
			}
		}
	}
	close(ping)
	t.Wait()
	if at.Load() != 0 || behind.Load() == 0 {
		t.Errorf("%d NMIs went on at a HLT, and %d behind one", at.Load(), behind.Load())
	}
}
