package syscall

import (
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// TestBadStackOfTheLastHandler: a program whose stack has overflowed has a handler for SIGSEGV that needs the same stack,
// so it dies, as on Linux, and does not continue for ever. One with a stack of its own gets the SIGSEGV of any signal
// that cannot be delivered.
func TestBadStackOfTheLastHandler(t *testing.T) {
	const lost = 0x1000 // nothing is mapped there
	for name, die := range map[string]func(p *player){
		"it overflows": func(p *player) { p.Fault(14, 6, lost-8) },
		"a signal":     func(p *player) { p.Call(nKill, 2, abi.SIGUSR1) },
		"SIGSEGV":      func(p *player) { p.Call(nKill, 2, abi.SIGSEGV) },
	} {
		s := run(t, func(p *player) {
			for _, n := range []uint64{abi.SIGSEGV, abi.SIGUSR1} {
				action(p, n, func(*player, uint64, uint64, uint64) { t.Errorf("%s: the handler of %d ran", name, n) }, abi.SA_NODEFER, 0)
			}
			p.Regs().SP = lost
			die(p)
		})
		if s != proc.Killed(abi.SIGSEGV) {
			t.Errorf("%s: status %#x", name, s)
		}
	}
	ran := 0
	s := run(t, func(p *player) {
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: 0x4000}
		p.Poke(scratch, abi.Bytes(&st))
		want(t, p, "sigaltstack", p.Call(nAltstack, scratch, 0), 0)
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) { t.Error("the handler of SIGUSR1 ran") }, 0, 0)
		action(p, abi.SIGSEGV, func(*player, uint64, uint64, uint64) { ran++ }, abi.SA_ONSTACK, 0)
		p.Regs().SP = lost
		p.Call(nKill, 2, abi.SIGUSR1)
		p.Regs().SP = proctest.StackTop
	})
	if s != 0 || ran != 1 {
		t.Errorf("with a stack of its own: status %#x, the handler ran %d times", s, ran)
	}
}
