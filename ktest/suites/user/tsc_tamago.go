//go:build tamago

package user

import (
	"runtime"
	"sync"

	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
)

func init() { suites.Add("user/denied_clock", deniedClock) }

// deniedClock: threads that may not read the TSC and threads that may take turns on all CPUs.
func deniedClock(t *suites.T) {
	codes := [][]byte{{0x0f, 0x31, 0x0f, 0x05}} // rdtsc; syscall
	if has(0x80000001, 0, 3, 27) {
		codes = append(codes, []byte{0x0f, 0x01, 0xf9, 0x0f, 0x05}) // rdtscp
	}
	var wg sync.WaitGroup
	for range cpu.Num() + 1 {
		for _, code := range codes {
			p := load(t, code)
			wg.Go(func() {
				defer p.Close()
				takeTurns(t, p)
			})
		}
	}
	wg.Wait()
}

func takeTurns(t *suites.T, p *program) {
	may, not := p.thread(), p.thread()
	not.DenyTSC(true)
	child := not.Clone()
	for range 100 {
		for c, want := range map[*ring3.Context]ring3.Event{may: ring3.SystemCall, not: amd64.VEC_GP, child: amd64.VEC_GP} {
			c.Regs.IP = codeAt
			if e := settle(c); e != want || c.TSCDenied() != (want != ring3.SystemCall) {
				t.Errorf("%s, want %#x", what(c, e), uint64(want))
				return
			}
		}
		runtime.Gosched()
	}
	not.DenyTSC(false)
	not.Regs.IP = codeAt
	if e := settle(not); e != ring3.SystemCall {
		t.Errorf("when it may again: %s", what(not, e))
	}
}
