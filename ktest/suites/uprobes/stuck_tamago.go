//go:build tamago

package uprobes

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	suites.Add("uprobes/handler_blocks_for_ever", func(t *suites.T) { stuck(t, true) })
	suites.Add("uprobes/handler_loops_for_ever", func(t *suites.T) { stuck(t, false) })
	suites.Add("uprobes/handler_keeps_its_cpu", keepsCPU)
	both("uprobes/handler_touches_bad_memory", badMemory)
	both("uprobes/handler_panics_behind_a_return", panicsAtReturn)
	suites.Add("uprobes/handler_ends_its_goroutine", endsGoroutine)
}

// stuck: a handler that never returns keeps the thread, but not the process from being
// killed; other threads, other processes, and whoever unregisters the probe continue.
func stuck(t *suites.T, blocked bool) {
	p := need(t, "/bin/probed")
	var over, returned atomic.Bool
	var in atomic.Int64
	gate := make(chan bool)
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if in.Add(1) > 1 { // only the first to come
			return
		}
		if blocked {
			<-gate
		}
		for !over.Load() {
			turn()
		}
		returned.Store(true)
	}}
	release := sync.OnceFunc(func() {
		over.Store(true)
		close(gate)
	})
	defer release()
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "spins")
	t.Until("hits of other threads", func() bool { return in.Load() > 100 })
	p.start(t, func(*proc.Process) {}, "calls").wait(t, "calls 1505500\n")
	entered := u.Ledger().Entered
	t.Until("more hits", func() bool { return u.Ledger().Entered > entered+100 })
	log := logWhile(t, func() {
		r.kill(t)
		t.Must(uprobes.UnregisterUprobe(u))
	})
	if !regexp.MustCompile(fmt.Sprintf(`the handler of the probe at %#x of process %d does not return: thread \d+ ends without it`, u.Vaddr, u.Pid)).MatchString(log) {
		t.Errorf("logged: %s", log)
	}
	if l := u.Ledger(); l.Abandoned != 1 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
	release()
	t.Until("the handler to return", returned.Load)
	if l := u.Ledger(); l.Abandoned != 1 || l.Unexplained() != 0 {
		t.Errorf("after it has returned: %+v", l)
	}
}

// keepsCPU: a handler that loops without calling anything would stop the collector, and with
// it everything. It is ended, its probe disabled, and the program continues.
func keepsCPU(t *suites.T) {
	p := need(t, "/bin/probed")
	var over atomic.Bool
	n := 0
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		for n++; n == 3 && !over.Load(); {
		}
	}}
	time.AfterFunc(suites.Limit/2, func() { over.Store(true) })
	log := logWhile(t, func() {
		r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "calls")
		t.Until("the loop", func() bool { return u.Ledger().Entered > 2 })
		runtime.GC()
		r.wait(t, "calls 1505500\n")
	})
	if over.Load() || !strings.Contains(log, "cpu limit exceeded in the handler of the probe at") {
		t.Errorf("logged: %s", log)
	}
	if l := u.Ledger(); n != 3 || l.Abandoned != 1 || l.Handled != 2 || l.Unexplained() != 0 {
		t.Errorf("%d: %+v", n, l)
	}
}

// turn is what a loop calls so that it can be stopped.
//
//go:noinline
func turn() {
	var room [200]byte
	runtime.KeepAlive(room)
}

// logWhile returns what is logged while f runs. The log is cleared first: when it is full, each
// new line takes the place of an old one, and nothing tells any longer where the new ones begin.
func logWhile(t *suites.T, f func()) string {
	shell(t, "dmesg -C")
	f()
	return shell(t, "dmesg")
}

// badMemory: a wild pointer in a handler ends the handler, not the machine.
func badMemory(t *suites.T) {
	p := need(t, "/bin/probed")
	for _, c := range []struct {
		name string
		addr uintptr
	}{
		{"nil", 0}, {"nothing there", 0x123456789000}, {"the program's", uintptr(p.syms["sum"].Value)},
		{"not canonical", 0xdead << 48}, {"text of the kernel", reflect.ValueOf(nothing).Pointer()},
	} {
		t.Logf("%s", c.name)
		u := &uprobes.Uprobe{TrapSafe: inTrap, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
			*(*byte)(unsafe.Pointer(c.addr)) = 1 // Safe because: it is not, and that is the point
		}}
		other := newCounter()
		r := p.start(t, func(in *proc.Process) {
			p.probe(t, in, u, "leaf")
			p.probe(t, in, &other.Uprobe, "leaf")
		}, "calls")
		r.wait(t, "calls 1505500\n")
		if l := u.Ledger(); other.hits() != 1000 || l.Abandoned != 1 || l.Disarmed != 999 || l.Unexplained() != 0 {
			t.Errorf("%s: %d hits of the other, %+v", c.name, other.hits(), l)
		}
	}
}

func panicsAtReturn(t *suites.T) {
	p := need(t, "/bin/probed")
	n := 0
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {
		if n++; n == 3 {
			panic("of a test")
		}
	}}
	r := p.start(t, func(in *proc.Process) {
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = in.PID, p.addr(t, in, "leaf"), inTrap
		t.Must(uprobes.RegisterUretprobe(rp))
	}, "calls")
	r.wait(t, "calls 1505500\n")
	if l := rp.U.Ledger(); n != 3 || l.Handled != 2 || l.Abandoned != 1 || l.Disarmed != 997 || l.Unexplained() != 0 {
		t.Errorf("%d: %+v", n, l)
	}
	if err := uprobes.EnableUretprobe(rp); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("its process has ended: %v", err)
	}
}

// endsGoroutine: the program cannot continue, and ends as if it had been killed.
func endsGoroutine(t *suites.T) {
	p := need(t, "/bin/probed")
	u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) { runtime.Goexit() }}
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "threads")
	t.Until("its end", func() bool { return r.p.Status() != 0 })
	r.kill(t)
	if s := r.p.Status(); s.Signal() != 9 {
		t.Errorf("signal %d", s.Signal())
	}
}
