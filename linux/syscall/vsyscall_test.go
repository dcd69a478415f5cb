package syscall

import (
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// TestVsyscalls: what an old program calls in the page at the end of the addresses is done, and it continues where
// it has called from.
func TestVsyscalls(t *testing.T) {
	const sp, ret, into = proctest.Data + 0x800, 0x401234, proctest.Data + 0x100
	run(t, func(p *player) {
		call := func(n, first, second uint64) (result uint64) {
			p.Poke64(sp, ret)
			r := p.Regs()
			r.DI, r.SI, r.DX = first, second, 0
			if ip := p.FetchAt(proc.VsyscallPage+1024*n, sp); ip != ret || r.SP != sp+8 {
				t.Errorf("function %d: it goes on at %#x with SP %#x", n, ip, r.SP)
			}
			return r.AX
		}
		now := uint64(time.Now().Unix())
		if e := call(0, into, 0); e != 0 || p.Peek64(into)-now > 1000 {
			t.Errorf("gettimeofday: %d, %d seconds", e, p.Peek64(into))
		}
		if s := call(1, into+8, 0); s-now > 1000 || s != p.Peek64(into+8) {
			t.Errorf("time: %d, %d", s, p.Peek64(into+8))
		}
		if e := call(2, into, into+4); e != 0 || p.Peek64(into) != 0 {
			t.Errorf("getcpu: %d, %#x", e, p.Peek64(into))
		}
	})
}

// TestNoVsyscall: another address of the page, one of no memory, and a stack that is none are faults.
func TestNoVsyscall(t *testing.T) {
	for name, c := range map[string]struct{ ip, sp, to uint64 }{
		"behind the functions": {proc.VsyscallPage + 0xc00, proctest.Data, 0},
		"in a function":        {proc.VsyscallPage + 7, proctest.Data, 0},
		"before the page":      {proc.VsyscallPage - 1024, proctest.Data, 0},
		"no stack":             {proc.VsyscallPage, 0x10, 0},
		"no room for the time": {proc.VsyscallPage, proctest.Data, 0x10},
	} {
		s := run(t, func(p *player) {
			p.Regs().DI, p.Regs().SI = c.to, 0
			if ip := p.FetchAt(c.ip, c.sp); ip != c.ip || p.Regs().SP != c.sp {
				t.Errorf("%s: it goes on at %#x with SP %#x", name, ip, p.Regs().SP)
			}
			p.Call(nGetpid)
		})
		if s.Signal() != abi.SIGSEGV {
			t.Errorf("%s: status %#x", name, uint64(s))
		}
	}
}
