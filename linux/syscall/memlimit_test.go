package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

// Memory limits apply to the process's address space, its children's, and the one after exec.
func TestMemoryLimits(t *testing.T) {
	const nMmap, nSetrlimit, mib = 9, 160, 1 << 20
	mmap := func(p *player, n uint64) int64 {
		return p.Call(nMmap, 0, n, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, ^uint64(0), 0)
	}
	refused := func(p *player, who string) {
		t.Helper()
		want(t, p, who+": more than the limit", mmap(p, 30*mib), errno(sys.ENOMEM))
		if got := mmap(p, mib); got < 0 {
			t.Errorf("%s: less than the limit: %d", who, got)
		}
	}
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		refused(p, "after exec")
		p.Call(nExitGroup, 8)
	})
	p := begin(t, w, func(p *player) {
		if got := mmap(p, 20*mib); got < 0 {
			t.Errorf("without a limit: %d", got)
		}
		p.Poke64(scratch, 24*mib)
		p.Poke64(scratch+8, 24*mib)
		want(t, p, "setrlimit", p.Call(nSetrlimit, abi.RLIMIT_AS, scratch), 0)
		refused(p, "the process")
		p.Fork(func(c *player) {
			refused(c, "its child")
			c.Call(nExitGroup, 0)
		}, nFork)
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
		p.PokeString(scratch, "/bin/next")
		p.Call(nExecve, scratch, 0, 0)
		t.Error("exec returned")
	})
	finish(t, w, p)
}
