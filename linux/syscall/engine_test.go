package syscall

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// record is what engines were told, in order.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (d *record) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// of returns the lines of one thread, without its number.
func (d *record) of(tid int) (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lines {
		if rest, ok := strings.CutPrefix(l, fmt.Sprintf("%d ", tid)); ok {
			all = append(all, rest)
		}
	}
	return all
}

// engine records in d all that it is told, and follows children.
func (d *record) engine() *proc.Engine {
	e := new(proc.Engine)
	e.Clone = func(t, child *proc.Thread, flags uint64) {
		d.add("%d clone %d", t.TID, child.TID)
		if flags&abi.CLONE_THREAD == 0 {
			child.Process().Attach(e)
		}
	}
	e.Exec = func(t *proc.Thread) { d.add("%d exec %s", t.TID, t.Process().Name()) }
	e.Exit = func(t *proc.Thread, s proc.Status) { d.add("%d exit %d %d", t.TID, s.Code(), s.Signal()) }
	e.Enter = func(t *proc.Thread) { d.add("%d enter %s", t.TID, Name(t.Call())) }
	e.Leave = func(t *proc.Thread) { d.add("%d leave %s %d", t.TID, Name(t.Call()), int64(t.Regs().AX)) }
	e.Signal = func(t *proc.Thread, info abi.Siginfo) bool {
		d.add("%d signal %s", t.TID, abi.SignalName(int(info.Signo)))
		return false
	}
	e.Exception = func(t *proc.Thread, vector int) bool {
		d.add("%d exception %d", t.TID, vector)
		return false
	}
	return e
}

// watched starts a program with engines attached.
func watched(t *testing.T, w *proctest.World, f proctest.Program, engines ...*proc.Engine) *proc.Process {
	t.Helper()
	img, err := w.Image("test", f)
	if err != nil {
		t.Fatal(err)
	}
	files, err := NewFiles(vfs.Root.RootPlace())
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files, Ready: func(p *proc.Process) {
		for _, e := range engines {
			p.Attach(e)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEngineIsToldOfAProcessAndItsChild(t *testing.T) {
	w, d := world(t), new(record)
	finish(t, w, watched(t, w, func(p *player) {
		p.Call(nGetpid)
		p.Fork(func(c *player) { c.Call(nKill, 3, abi.SIGTERM) }, nFork)
		for p.Call(nWait4, ^uint64(0), 0, 0, 0) < 0 {
		}
		p.Call(nExitGroup, 4)
	}, d.engine()))
	same(t, d.of(3), "enter kill", "leave kill 0", "signal TERM", "exit 0 15")
	lines := d.of(2)
	if !slices.Contains(lines, "signal CHLD") {
		t.Error("a signal that is ignored is not told")
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "wait4") || l == "signal CHLD" })
	same(t, lines, "enter getpid", "leave getpid 2", "enter fork", "clone 3", "leave fork 3", "enter exit_group", "exit 4 0")
}

func TestEngineIsToldOfExecThreadsAndExceptions(t *testing.T) {
	w, d := world(t), new(record)
	provide(t, w, "/bin/next", func(p *player) { p.Fault(3, 0, 0) })
	finish(t, w, watched(t, w, func(p *player) {
		const flags = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD | abi.CLONE_CHILD_CLEARTID
		p.Poke32(scratch, 1)
		p.Fork(func(c *player) { c.Call(nExit, 9) }, nClone, flags, proctest.StackTop-4096, 0, scratch)
		for p.Peek32(scratch) != 0 {
			time.Sleep(time.Millisecond)
		}
		p.PokeString(scratch, "/bin/next")
		p.Call(nExecve, scratch, 0, 0)
	}, d.engine()))
	same(t, d.of(3), "enter exit", "exit 9 0")
	same(t, d.of(2), "enter clone", "clone 3", "leave clone 3", "enter execve", "exec next", "leave execve 0",
		"exception 3", "signal TRAP", "exit 0 5")
}

// TestEnginesAreToldInOrder also drops a signal and an exception: neither the second engine nor the
// program gets them.
func TestEnginesAreToldInOrder(t *testing.T) {
	w, d := world(t), new(record)
	first := &proc.Engine{
		Enter:     func(th *proc.Thread) { d.add("%d first", th.TID) },
		Signal:    func(th *proc.Thread, info abi.Siginfo) bool { return info.Signo == abi.SIGTERM },
		Exception: func(th *proc.Thread, vector int) bool { return vector == 3 },
	}
	s := finish(t, w, watched(t, w, func(p *player) {
		p.Fault(3, 0, 0)
		p.Call(nKill, 2, abi.SIGTERM)
		p.Call(nExitGroup, 1)
	}, first, d.engine()))
	if s != proc.Exited(1) {
		t.Errorf("status %#x", s)
	}
	same(t, d.of(2), "first", "enter kill", "leave kill 0", "first", "enter exit_group", "exit 1 0")
}

func TestEngineThatIsDetachedIsToldNothing(t *testing.T) {
	w, d := world(t), new(record)
	e := d.engine()
	finish(t, w, watched(t, w, func(p *player) {
		p.Call(nGetpid)
		process, _ := w.Table.Find(2)
		process.Detach(e)
		p.Call(nGettid)
	}, e))
	same(t, d.of(2), "enter getpid", "leave getpid 2")
}

// TestContinueWhileEnginesAreToldOfAStop: SIGCONT undoes the stop, as it does without engines.
func TestContinueWhileEnginesAreToldOfAStop(t *testing.T) {
	w := world(t)
	e := &proc.Engine{Signal: func(th *proc.Thread, info abi.Siginfo) bool {
		if info.Signo == abi.SIGSTOP {
			th.Process().Send(proc.SignalOf(abi.SIGCONT))
		}
		return false
	}}
	p := watched(t, w, func(p *player) {
		p.Call(nKill, 2, abi.SIGSTOP)
		p.Call(nExitGroup, 3)
	}, e)
	if s := finish(t, w, p); s != proc.Exited(3) {
		t.Errorf("status %#x", s)
	}
}
