package syscall

import (
	"fmt"
	"runtime"
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// Numbers of calls.
const (
	nRead, nWrite, nClose, nSigaction, nSigmask   = 0, 1, 3, 13, 14
	nPipe, nPause, nNanosleep, nAlarm, nGetpid    = 22, 34, 35, 37, 39
	nClone, nFork, nVfork, nExecve, nExit, nWait4 = 56, 57, 58, 59, 60, 61
	nKill, nSetpgid, nGetppid, nSetsid            = 62, 109, 110, 112
	nSuspend, nAltstack, nFutex, nSigtimedwait    = 130, 131, 202, 128
	nTgkill, nGettid, nExitGroup, nSetTID         = 234, 186, 231, 218
	nWaitid, nGetpgid, nSigpending, nDup2         = 247, 121, 127, 33
)

// long is the time after which a test fails.
const long = quick.Hang

type player = proctest.Player

// world is a machine for a test. The test fails if anything of a program is left at its end.
func world(t *testing.T) *proctest.World {
	t.Helper()
	w := proctest.NewWorld(64<<20, Handle)
	before := w.Frames.Stats().Used
	SetLoader(func(p Program) (proc.Image, error) { return w.Exec(p.Path) })
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if n, threads, _ := w.Table.Counts(); n != 0 || threads != 0 {
			t.Errorf("%d processes and %d threads are left", n, threads)
		}
		if used := w.Frames.Stats().Used; used > before {
			t.Errorf("%d frames are left", used-before)
		}
		if n := w.Table.Futexes().Waiting(); n != 0 {
			t.Errorf("%d wait for futexes", n)
		}
	})
	return w
}

// run runs a program to its end, in a world of its own.
func run(t *testing.T, f proctest.Program) proc.Status {
	t.Helper()
	w := world(t)
	return finish(t, w, begin(t, w, f))
}

func begin(t *testing.T, w *proctest.World, f proctest.Program) *proc.Process {
	t.Helper()
	img, err := w.Image("test", f)
	if err != nil {
		t.Fatal(err)
	}
	files, err := NewFiles(vfs.Root.RootPlace())
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// provide makes a program that exec can run.
func provide(t *testing.T, w *proctest.World, path string, f proctest.Program) {
	t.Helper()
	root := vfs.Root.RootPlace()
	if err := vfs.Root.MkdirAt(root, "/bin", 0755); err != nil && errnoOf(err) != sys.EEXIST {
		t.Fatal(err)
	}
	if err := vfs.Root.MakeFileAt(root, path, 0755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vfs.Root.UnlinkAt(root, path) })
	w.Install(path, f)
}

// finish waits for a process as its kernel parent does.
func finish(t *testing.T, w *proctest.World, p *proc.Process) proc.Status {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(long):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the program does not end\n%s", threadsOf(string(stacks[:runtime.Stack(stacks, true)])))
	}
	_, err := w.Table.Init().Wait(proc.Which{Kind: abi.P_PID, ID: p.PID}, abi.WEXITED, func() <-chan struct{} { return nil })
	if err != nil {
		t.Errorf("wait: %v", err)
	}
	return p.Status()
}

// want compares two numbers in a program; if they differ, the program ends with exit code 99.
func want(t *testing.T, p *player, what string, got, want int64) {
	if got != want {
		t.Helper()
		t.Errorf("%s: %d, want %d", what, got, want)
		p.Call(nExitGroup, 99)
	}
}

func action(p *player, sig uint64, h proctest.Handler, flags, mask uint64) {
	act := abi.Sigaction{Handler: p.World.Handler(h), Flags: flags | abi.SA_RESTORER, Restorer: proctest.Restorer, Mask: mask}
	p.Poke(proctest.Data, abi.Bytes(&act))
	if r := p.Call(nSigaction, sig, proctest.Data, 0, 8); r != 0 {
		panic(fmt.Sprintf("sigaction: %d", r))
	}
}

func ignore(p *player, sig uint64) {
	p.Poke(proctest.Data, abi.Bytes(&abi.Sigaction{Handler: abi.SIG_IGN}))
	p.Call(nSigaction, sig, proctest.Data, 0, 8)
}

const scratch = proctest.Data + 0x1000

func errno(e sys.Errno) int64 { return -int64(e) }

func TestExitCode(t *testing.T) {
	if s := run(t, func(p *player) { p.Call(nExitGroup, 42) }); s != proc.Exited(42) {
		t.Errorf("status %#x", s)
	}
	if s := run(t, func(p *player) { p.Call(nExit, 7) }); s != proc.Exited(7) {
		t.Errorf("exit of the last thread: status %#x", s)
	}
}

func TestForkWaitAndMemoryApart(t *testing.T) {
	s := run(t, func(p *player) {
		p.Poke32(scratch, 1)
		pid := p.Fork(func(c *player) {
			want(t, c, "child's memory", int64(c.Peek32(scratch)), 1)
			c.Poke32(scratch, 2)
			want(t, c, "getppid", c.Call(nGetppid), 2)
			c.Call(nExitGroup, 3)
		}, nFork)
		want(t, p, "fork", pid, 3)
		want(t, p, "wait4", p.Call(nWait4, ^uint64(0), scratch+8, 0, 0), pid)
		want(t, p, "status", int64(p.Peek32(scratch+8)), 3<<8)
		want(t, p, "parent's memory", int64(p.Peek32(scratch)), 1)
		want(t, p, "no more children", p.Call(nWait4, ^uint64(0), 0, 0, 0), errno(sys.ECHILD))
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestWaitNoHang(t *testing.T) {
	run(t, func(p *player) {
		pid := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		want(t, p, "WNOHANG", p.Call(nWait4, pid, 0, abi.WNOHANG, 0), 0)
		want(t, p, "kill", p.Call(nKill, pid, abi.SIGKILL), 0)
		want(t, p, "wait4", p.Call(nWait4, pid, scratch, 0, 0), int64(pid))
		want(t, p, "status", int64(p.Peek32(scratch)), abi.SIGKILL)
		want(t, p, "kill again", p.Call(nKill, pid, 0), errno(sys.ESRCH))
	})
}

// TestVforkSharesMemory also checks that the parent sleeps until the child ends, and that ps shows
// this sleep as uninterruptible.
func TestVforkSharesMemory(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		pid := p.Fork(func(c *player) {
			parent, _ := w.Table.Find(int(c.Call(nGetppid)))
			for end := time.Now().Add(long); parent.State() != "D"; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("the parent is at %s", parent.State())
					break
				}
			}
			c.Poke32(scratch, 77)
			c.Call(nExitGroup, 0)
		}, nVfork)
		want(t, p, "what the child wrote", int64(p.Peek32(scratch)), 77)
		want(t, p, "wait4", p.Call(nWait4, ^uint64(0), 0, 0, 0), pid)
	})
	finish(t, w, p)
}

func TestOrphanGoesToTheKernel(t *testing.T) {
	w := world(t)
	orphan := make(chan int64, 1)
	p := begin(t, w, func(p *player) {
		p.Fork(func(c *player) {
			c.Fork(func(g *player) {
				for g.Call(nGetppid) != 1 {
					time.Sleep(time.Millisecond)
				}
				orphan <- g.Call(nGetpid)
			}, nFork)
			c.Call(nExitGroup, 0)
		}, nFork)
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
	})
	finish(t, w, p)
	select {
	case <-orphan:
	case <-time.After(long):
		t.Fatal("the orphan has no new parent")
	}
	for end := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		if n, _, _ := w.Table.Counts(); n == 0 {
			break
		} else if time.Now().After(end) {
			t.Fatal("the kernel does not wait for orphans")
		}
	}
}

// TestCloneParent: a child whose parent is the kernel stayed a zombie.
func TestCloneParent(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		if p.Fork(func(c *player) { want(t, c, "getppid", c.Call(nGetppid), 1) }, nClone, abi.CLONE_PARENT|abi.SIGCHLD) < 0 {
			t.Error("clone")
		}
		want(t, p, "children", p.Call(nWait4, ^uint64(0), 0, 0, 0), errno(sys.ECHILD))
	})
	finish(t, w, p)
	settle(t, w)
}

func TestIgnoredChildrenLeaveNoZombies(t *testing.T) {
	run(t, func(p *player) {
		ignore(p, abi.SIGCHLD)
		p.Fork(func(c *player) {}, nFork)
		want(t, p, "wait4", p.Call(nWait4, ^uint64(0), 0, 0, 0), errno(sys.ECHILD))
	})
}

func TestThreadsAndExitGroup(t *testing.T) {
	const flags = abi.CLONE_VM | abi.CLONE_FS | abi.CLONE_FILES | abi.CLONE_SIGHAND | abi.CLONE_THREAD |
		abi.CLONE_PARENT_SETTID | abi.CLONE_CHILD_CLEARTID
	s := run(t, func(p *player) {
		p.Poke32(scratch, 0)
		tid := p.Fork(func(c *player) {
			want(t, c, "getpid of a thread", c.Call(nGetpid), 2)
			want(t, c, "gettid", c.Call(nGettid), 3)
			c.Poke32(scratch+4, 1)
			c.Call(nExit, 0)
		}, nClone, flags, proctest.StackTop-4096, scratch, scratch)
		want(t, p, "clone", tid, 3)
		for v := p.Peek32(scratch); v != 0; v = p.Peek32(scratch) {
			want(t, p, "TID stored", int64(v), tid)
			p.Call(nFutex, scratch, abi.FUTEX_WAIT, uint64(v), 0)
		}
		want(t, p, "the thread ran", int64(p.Peek32(scratch+4)), 1)
		for range 3 {
			p.Fork(func(c *player) { c.Call(nPause) }, nClone, flags&^abi.CLONE_CHILD_CLEARTID, proctest.StackTop-8192, scratch)
		}
		p.Call(nExitGroup, 5)
	})
	if s != proc.Exited(5) {
		t.Errorf("status %#x", s)
	}
}

func TestExecReplacesProgramAndThreads(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "pid", p.Call(nGetpid), 2)
		want(t, p, "tid", p.Call(nGettid), 2)
		p.Call(nExitGroup, 8)
	})
	p := begin(t, w, func(p *player) {
		const flags = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
		p.PokeString(scratch, "/bin/nothing")
		want(t, p, "exec of nothing", p.Call(nExecve, scratch, 0, 0), errno(sys.ENOENT))
		p.Fork(func(c *player) {
			c.PokeString(scratch, "/bin/next")
			c.Call(nExecve, scratch, 0, 0)
			t.Error("exec returned")
		}, nClone, flags, proctest.StackTop-4096)
		p.Call(nPause)
		t.Error("a thread survived exec")
	})
	if s := finish(t, w, p); s != proc.Exited(8) {
		t.Errorf("status %#x", s)
	}
	if p.Name() != "next" {
		t.Errorf("name %q", p.Name())
	}
}

func TestForkLimit(t *testing.T) {
	run(t, func(p *player) {
		n := 0
		for p.Fork(func(c *player) { c.Call(nPause) }, nFork) > 0 {
			n++
		}
		want(t, p, "processes", int64(n), 63)
		ignore(p, abi.SIGTERM)
		p.Call(nKill, 0, 0) // signal 0 only asks
		p.Call(nKill, ^uint64(0), abi.SIGKILL)
		for p.Call(nWait4, ^uint64(0), 0, 0, 0) > 0 {
			n--
		}
		want(t, p, "those not waited for", int64(n), 0)
	})
}

func TestPanicKillsTheProcessOnly(t *testing.T) {
	w := world(t)
	w.Table.Syscall = func(th *proc.Thread) {
		if th.Regs().AX == 777 {
			panic("a bug")
		}
		Handle(th)
	}
	p := begin(t, w, func(p *player) {
		pid := p.Fork(func(c *player) { c.Call(777) }, nFork)
		want(t, p, "wait4", p.Call(nWait4, ^uint64(0), scratch, 0, 0), pid)
		want(t, p, "status", int64(p.Peek32(scratch)), abi.SIGKILL)
	})
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
	if l := w.Log(); len(l) != 1 || !strings.Contains(l[0], "a bug") || !strings.Contains(l[0], "call 777 of test[3]") {
		t.Errorf("log: %q", l)
	}
}

func TestUnknownCallIsNamedOnce(t *testing.T) {
	clear(missing.counts) // of an earlier run
	clear(missing.named)
	w := world(t)
	p := begin(t, w, func(p *player) {
		for range 3 {
			want(t, p, "kexec_load", p.Call(246), errno(sys.ENOSYS))
		}
		want(t, p, "a number that is none", p.Call(1<<40), errno(sys.ENOSYS))
	})
	finish(t, w, p)
	if l := strings.Join(w.Log(), "\n"); strings.Count(l, "kexec_load") != 1 {
		t.Errorf("log: %q", l)
	}
	var b strings.Builder
	Unknown(&b)
	if !strings.Contains(b.String(), "kexec_load               3\n") {
		t.Errorf("counts:\n%s", b.String())
	}
}
