package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// The number of a call.
const nPrlimit = 302

// limitTo sets both values of a resource limit.
func limitTo(p *player, pid, which, n uint64) int64 {
	p.Poke64(scratch, n)
	p.Poke64(scratch+8, n)
	return p.Call(nPrlimit, pid, which, scratch, 0)
}

// mapped maps n bytes and says whether that worked.
func mapped(p *player, n uint64) int64 {
	if r := p.Call(nMmap, 0, n, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, ^uint64(0), 0); r < 0 {
		return r
	}
	return 0
}

// TestMemoryLimitCounts: memory limits were stored, but the address space did not apply them.
func TestMemoryLimitCounts(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "mmap after exec", mapped(p, 2<<20), errno(sys.ENOMEM))
		p.Call(nExitGroup, 8)
	})
	p := begin(t, w, func(p *player) {
		want(t, p, "mmap without a limit", mapped(p, 2<<20), 0)
		want(t, p, "prlimit", limitTo(p, 0, abi.RLIMIT_AS, 3<<20), 0)
		want(t, p, "mmap beyond it", mapped(p, 2<<20), errno(sys.ENOMEM))
		p.Fork(func(c *player) { want(t, c, "mmap of a child", mapped(c, 2<<20), errno(sys.ENOMEM)) }, nFork)
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
		want(t, p, "prlimit", limitTo(p, 0, abi.RLIMIT_AS, 1<<20), 0)
		p.PokeString(scratch, "/bin/next")
		p.Call(nExecve, scratch, 0, 0)
	})
	if s := finish(t, w, p); s != proc.Exited(8) {
		t.Errorf("status %#x", s)
	}
}

// TestNobodyLimitsTheKernel: a program could take away the kernel's right to start others.
func TestNobodyLimitsTheKernel(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "prlimit of process 1", limitTo(p, 1, abi.RLIMIT_NPROC, 1), errno(sys.EPERM))
		want(t, p, "its own", limitTo(p, 0, abi.RLIMIT_NPROC, 1), 0)
		want(t, p, "more", limitTo(p, 0, abi.RLIMIT_NPROC, 1<<40), errno(sys.EPERM))
	})
}
