//go:build tamago

package uprobes

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes"
)

func init() {
	both("uprobes/refusals", refusals)
	both("uprobes/of_one_process_alone", oneProcess)
	both("uprobes/a_running_process", running)
	both("uprobes/no_call_is_interrupted", uninterrupted)
	both("uprobes/a_child_is_given_its_own", ownOfChild)
	both("uprobes/traps_are_hidden_from_later_engines", hidden)
}

func nothing(*uprobes.Uprobe, *amd64.Regs) {}

func refusals(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(in *proc.Process) {
		leaf := p.addr(t, in, "leaf")
		own, err := in.Memory().Map(0, space.PageSize, space.Read|space.Write|space.Exec, 0, nil, 0)
		t.Must(err)
		t.Must(in.Memory().Out(own, []byte{0xCC, 0x06, 0x90}))
		shared, err := in.Memory().Map(0, space.PageSize, space.Read|space.Write|space.Exec, space.Shared, nil, 0)
		t.Must(err)
		registered := &uprobes.Uprobe{Pid: in.PID, Vaddr: leaf, TrapSafe: inTrap, Handler: nothing}
		t.Must(uprobes.RegisterUprobe(registered))
		before := len(uprobes.All())
		for _, c := range []struct {
			name  string
			u     *uprobes.Uprobe
			errno syscall.Errno
		}{
			{"no such process", &uprobes.Uprobe{Pid: 1 << 22, Vaddr: leaf, Handler: nothing}, syscall.ESRCH},
			{"the kernel", &uprobes.Uprobe{Pid: 1, Vaddr: leaf, Handler: nothing}, syscall.ESRCH},
			{"no handler", &uprobes.Uprobe{Pid: in.PID, Vaddr: leaf}, syscall.EINVAL},
			{"registered", registered, syscall.EBUSY},
			{"not mapped", &uprobes.Uprobe{Pid: in.PID, Vaddr: 1 << 46, Handler: nothing}, syscall.EFAULT},
			{"of the kernel", &uprobes.Uprobe{Pid: in.PID, Vaddr: 1 << 63, Handler: nothing}, syscall.EFAULT},
			{"data", &uprobes.Uprobe{Pid: in.PID, Vaddr: p.syms["sum"].Value, Handler: nothing}, syscall.EACCES},
			{"another's breakpoint", &uprobes.Uprobe{Pid: in.PID, Vaddr: own, Handler: nothing}, syscall.EEXIST},
			{"no instruction", &uprobes.Uprobe{Pid: in.PID, Vaddr: own + 1, Handler: nothing}, syscall.EILSEQ},
			{"shared", &uprobes.Uprobe{Pid: in.PID, Vaddr: shared, Handler: nothing}, syscall.EACCES},
		} {
			c.u.TrapSafe = inTrap
			if err := uprobes.RegisterUprobe(c.u); !errors.Is(err, c.errno) {
				t.Errorf("%s: %v, want %v", c.name, err, c.errno)
			}
		}
		if n := len(uprobes.All()); n != before {
			t.Errorf("%d probes, before %d", n, before)
		}
		registered.Vaddr++
		if err := uprobes.UnregisterUprobe(registered); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("changed meanwhile: %v", err)
		}
		registered.Vaddr--
		t.Must(uprobes.UnregisterUprobe(registered))
		t.Must(uprobes.UnregisterUprobe(registered))
		if err := uprobes.UnregisterUprobe(&uprobes.Uprobe{Pid: in.PID, Vaddr: leaf, Handler: nothing}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("never registered: %v", err)
		}
	}, "calls")
	r.wait(t, "calls 1505500\n")
}

// oneProcess: another process of the same program, and the file, are as before.
func oneProcess(t *suites.T) {
	p := need(t, "/bin/probed")
	clean, err := vfs.Root.ReadFile(strings.TrimPrefix(p.path, "/"))
	t.Must(err)
	c := newCounter()
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, &c.Uprobe, "leaf") }, "sleeps")
	t.Until("a hit", func() bool { return c.hits() > 0 })
	p.start(t, func(in *proc.Process) {
		var b [1]byte
		t.Must(in.Memory().In(b[:], c.Vaddr))
		if b[0] == 0xCC {
			t.Errorf("the breakpoint is in another process")
		}
	}, "calls").wait(t, "calls 1505500\n")
	now, err := vfs.Root.ReadFile(strings.TrimPrefix(p.path, "/"))
	t.Must(err)
	if !bytes.Equal(clean, now) {
		t.Errorf("the file has changed")
	}
	r.kill(t)
}

// kill ends a program that does not end by itself.
func (r *run) kill(t *suites.T) {
	r.p.Kill(abi.SIGKILL)
	<-r.p.Done()
	suites.Programs.Init().Wait(proc.Which{Kind: abi.P_PID, ID: r.p.PID}, abi.WEXITED, func() <-chan struct{} { return nil })
}

// running: probes come and go while a program runs, and after each of them nothing more
// is counted and the text is as it was.
func running(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "spin")
	addr := p.addr(t, r.p, "leaf")
	var was, now [16]byte
	t.Must(r.p.Memory().In(was[:], addr))
	for range 20 {
		c := newCounter()
		c.Pid, c.Vaddr = r.p.PID, addr
		t.Must(uprobes.RegisterUprobe(&c.Uprobe))
		t.Until("a hit", func() bool { return c.hits() > 10 })
		t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
		n := c.hits()
		t.Must(r.p.Memory().In(now[:], addr))
		time.Sleep(time.Millisecond)
		if now != was || c.hits() != n {
			t.Errorf("% x, was % x; %d hits later", now, was, c.hits()-n)
		}
	}
	r.kill(t)
}

// uninterrupted: probes come and go while a program waits in a system call, which continues.
func uninterrupted(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "waits")
	n := 0
	for u := (&uprobes.Uprobe{Pid: r.p.PID, Vaddr: p.syms["leaf"].Value, Handler: nothing, TrapSafe: inTrap}); ; n++ {
		if err := uprobes.RegisterUprobe(u); errors.Is(err, syscall.ESRCH) {
			break
		}
		t.Must(uprobes.UnregisterUprobe(u))
		time.Sleep(time.Millisecond)
	}
	r.wait(t, "waits 1\n")
	if n == 0 {
		t.Errorf("no probes")
	}
}

// ownOfChild follows uprobes.txt §7: an engine registers probes in each new child.
func ownOfChild(t *suites.T) {
	p := need(t, "/bin/probed")
	c := newCounter()
	var inChildren atomic.Int64
	var errs atomic.Int64
	e := &proc.Engine{Clone: func(_, child *proc.Thread, flags uint64) {
		if flags&abi.CLONE_THREAD != 0 {
			return
		}
		u := &uprobes.Uprobe{Pid: child.Process().PID, Vaddr: c.Vaddr, TrapSafe: inTrap, Handler: func(*uprobes.Uprobe, *amd64.Regs) { inChildren.Add(1) }}
		if err := uprobes.RegisterUprobe(u); err != nil {
			errs.Add(1)
		}
	}}
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, &c.Uprobe, "leaf")
		in.Attach(e)
	}, "forks")
	r.wait(t, "forks 135\n")
	if c.hits() != 10 || inChildren.Load() != 10 || errs.Load() != 0 {
		t.Errorf("%d hits in the parent, %d in children, %d errors", c.hits(), inChildren.Load(), errs.Load())
	}
}

// hidden: an engine that was attached before the first probe sees the traps of probes, one
// that was attached later sees those of the program alone.
func hidden(t *suites.T) {
	p := need(t, "/bin/probed")
	var early, late atomic.Int64
	count := func(n *atomic.Int64) *proc.Engine {
		return &proc.Engine{Exception: func(_ *proc.Thread, vector int) bool {
			if vector == amd64.VEC_BP {
				n.Add(1)
			}
			return false
		}}
	}
	c := newCounter()
	r := p.start(t, func(in *proc.Process) {
		in.Attach(count(&early))
		p.probe(t, in, &c.Uprobe, "leaf")
		in.Attach(count(&late))
	}, "traps")
	r.wait(t, "traps 135\n")
	if c.hits() != 10 || early.Load() != 20 || late.Load() != 10 {
		t.Errorf("%d hits; the early engine saw %d traps, the late one %d", c.hits(), early.Load(), late.Load())
	}
}
