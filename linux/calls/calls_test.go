package calls

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/bpf"
	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	linux "sonde/linux/syscall"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// Numbers of calls.
const (
	nPause, nAlarm, nGetpid, nExit, nUname = 34, 37, 39, 60, 63
)

// world provides the calls of a world of players.
func world(t *testing.T) *proctest.World {
	w := proctest.NewWorld(64<<20, linux.Handle)
	attach.Provide(attach.Call, Provider{w.Table})
	return w
}

// TestRecord: a record has its fields, and as many bytes as a program may read, whatever program others continue as.
func TestRecord(t *testing.T) {
	hit := attach.Hit{Regs: &amd64.Regs{DI: 3, R9: 8, AX: 9}, Place: &attach.Place{Addr: nGetpid}}
	for _, c := range []struct {
		point Tracepoint
		want  []uint64
	}{
		{Tracepoint{ID: 7}, []uint64{7, nGetpid, 3, 0, 0, 0, 0, 8, 0}},
		{Tracepoint{ID: 8, Exit: true}, []uint64{8, nGetpid, 9, 0}},
	} {
		c.point.Record(&hit, func(h *attach.Hit) {
			if len(h.Data)*8 < bpf.RecordSize || !slices.Equal(h.Data[:len(c.want)], c.want) {
				t.Errorf("%d bytes, %d", len(h.Data)*8, h.Data)
			}
		})
	}
}

// start runs a program.
func start(t *testing.T, w *proctest.World, f proctest.Program) *proc.Process {
	t.Helper()
	img, err := w.Image("test", f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wait waits for its end.
func wait(t *testing.T, p *proc.Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(quick.Hang):
		t.Fatal("the program does not end")
	}
}

func attachTo(t *testing.T, f attach.Handler, o *attach.Options, places ...string) *attach.Link {
	t.Helper()
	l, err := attach.AttachTo(f, o, places...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// expect compares a link's account, which must balance.
func expect(t *testing.T, l *attach.Link, want ledger.Ledger) {
	t.Helper()
	if got := l.Ledger(); got != want || got.Unexplained() != 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestEntryAndReturn(t *testing.T) {
	w := world(t)
	var entered, returned []string
	in := attachTo(t, func(h *attach.Hit) {
		entered = append(entered, fmt.Sprintf("%s(%#x) %v", h.Place.Where, h.Regs.DI, h.MayBlock))
	}, nil, "sys:alarm")
	out := attachTo(t, func(h *attach.Hit) {
		returned = append(returned, fmt.Sprintf("%s(%#x) = %d", h.Place.Where, h.Data[0], h.Result()))
	}, &attach.Options{Data: 1, Entry: func(h *attach.Hit) bool { h.Data[0] = h.Regs.DI; return h.Regs.DI != 0 }}, "ret:sys:alarm")
	wait(t, start(t, w, func(p *proctest.Player) {
		p.Call(nAlarm, 100)
		p.Call(nAlarm, 70)
		p.Call(nGetpid)
		p.Call(nAlarm, 0)
	}))
	in.Close()
	out.Close()
	if got := fmt.Sprint(entered); got != "[sys:alarm(0x64) true sys:alarm(0x46) true sys:alarm(0x0) true]" {
		t.Error(got)
	}
	if got := fmt.Sprint(returned); got != "[ret:sys:alarm(0x64) = 0 ret:sys:alarm(0x46) = 100]" {
		t.Error(got)
	}
	expect(t, in, ledger.Ledger{Entered: 3, Handled: 3})
	expect(t, out, ledger.Ledger{Entered: 3, Handled: 2, Declined: 1})
}

func TestPatternsAndPlaces(t *testing.T) {
	w := world(t)
	l := attachTo(t, nil, nil, "sys:get*id", "sys:alarm")
	defer l.Close()
	wait(t, start(t, w, func(p *proctest.Player) { p.Call(nGetpid); p.Call(nAlarm, 0); p.Call(nUname, 0) }))
	n := map[string]uint64{}
	for _, p := range l.Places() {
		n[p.Where] = p.Ledger.Handled
	}
	if n["sys:getpid"] != 1 || n["sys:alarm"] != 1 || len(n) < 8 {
		t.Error(n)
	}
	for place, errno := range map[string]syscall.Errno{"sys:opne": syscall.ENOENT, "sys:zz*": syscall.ENOENT, "99:sys:read": syscall.ESRCH} {
		if _, err := attach.AttachTo(nil, nil, "sys:read", place); !errors.Is(err, errno) || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestOneProcess(t *testing.T) {
	w := world(t)
	attached := make(chan struct{})
	program := func(p *proctest.Player) { <-attached; p.Call(nGetpid) }
	a, b := start(t, w, program), start(t, w, program)
	l := attachTo(t, nil, nil, fmt.Sprintf("%d:sys:getpid", b.PID))
	defer l.Close()
	close(attached)
	wait(t, a)
	wait(t, b)
	expect(t, l, ledger.Ledger{Entered: 1, Handled: 1})
}

// TestCallThatNeverReturns: a thread that ends in a call, or whose link is closed meanwhile.
func TestCallThatNeverReturns(t *testing.T) {
	w := world(t)
	exits, pauses := attachTo(t, nil, nil, "ret:sys:exit"), attachTo(t, nil, nil, "ret:sys:pause")
	p := start(t, w, func(p *proctest.Player) { p.Call(nPause) })
	for pauses.Ledger().InFlight == 0 {
		time.Sleep(time.Millisecond)
	}
	pauses.Close()
	expect(t, pauses, ledger.Ledger{Entered: 1, Disarmed: 1})
	p.Send(abi.Siginfo{Signo: abi.SIGKILL})
	wait(t, p)
	wait(t, start(t, w, func(p *proctest.Player) { p.Call(nExit, 0) }))
	exits.Close()
	expect(t, exits, ledger.Ledger{Entered: 1, Abandoned: 1})
}

// TestActive: calls beyond Options.Active are missed; what has returned leaves room.
func TestActive(t *testing.T) {
	w := world(t)
	l := attachTo(t, nil, &attach.Options{Active: 1}, "ret:sys:pause", "ret:sys:getpid")
	first := start(t, w, func(p *proctest.Player) { p.Call(nGetpid); p.Call(nGetpid); p.Call(nPause) })
	for l.Ledger().InFlight == 0 {
		time.Sleep(time.Millisecond)
	}
	second := start(t, w, func(p *proctest.Player) { p.Call(nGetpid); p.Call(nPause) })
	for l.Ledger().Entered < 5 {
		time.Sleep(time.Millisecond)
	}
	for _, p := range []*proc.Process{second, first} {
		p.Send(abi.Siginfo{Signo: abi.SIGKILL})
		wait(t, p)
	}
	l.Close()
	expect(t, l, ledger.Ledger{Entered: 5, Handled: 3, NoInst: 1, Abandoned: 1})
}

func TestDisabled(t *testing.T) {
	w := world(t)
	l := attachTo(t, nil, &attach.Options{Disabled: true}, "sys:getpid")
	call := func() { wait(t, start(t, w, func(p *proctest.Player) { p.Call(nGetpid) })) }
	call()
	if err := l.Enable(true); err != nil {
		t.Fatal(err)
	}
	call()
	l.Close()
	call()
	expect(t, l, ledger.Ledger{Entered: 2, Handled: 1, Disarmed: 1})
}

// TestBadHandlers: one that panics, and one that ends its goroutine, is called once; the program ends as
// it would have, or is killed if its goroutine has ended.
func TestBadHandlers(t *testing.T) {
	w := world(t)
	for _, f := range []attach.Handler{
		func(*attach.Hit) { panic("of a test") },
		func(*attach.Hit) { runtime.Goexit() },
	} {
		l := attachTo(t, f, nil, "sys:getpid")
		wait(t, start(t, w, func(p *proctest.Player) { p.Call(nGetpid) }))
		wait(t, start(t, w, func(p *proctest.Player) { p.Call(nGetpid) }))
		if err := l.Enable(true); !errors.Is(err, syscall.EINVAL) {
			t.Error("enabled again:", err)
		}
		l.Close()
		expect(t, l, ledger.Ledger{Entered: 2, Abandoned: 1, Disarmed: 1})
	}
}

// TestStuckHandler: the process is killed although a handler does not return, and Close does not wait
// for it. When it does return, the hit used to count as handled, too.
func TestStuckHandler(t *testing.T) {
	w := world(t)
	over, returned := make(chan struct{}), make(chan struct{})
	var in atomic.Bool
	l := attachTo(t, func(*attach.Hit) {
		defer close(returned)
		in.Store(true)
		<-over
	}, nil, "sys:getpid")
	p := start(t, w, func(p *proctest.Player) { p.Call(nGetpid) })
	for !in.Load() {
		time.Sleep(time.Millisecond)
	}
	p.Send(abi.Siginfo{Signo: abi.SIGKILL})
	wait(t, p)
	l.Close()
	expect(t, l, ledger.Ledger{Entered: 1, Abandoned: 1})
	close(over)
	<-returned
	time.Sleep(10 * time.Millisecond)
	expect(t, l, ledger.Ledger{Entered: 1, Abandoned: 1})
}

// TestHandlerKeepsOneOfTwoReturns: a call is in a link twice, and the handler does not return from the first. The second
// used to stay in flight for ever.
func TestHandlerKeepsOneOfTwoReturns(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	for what, f := range map[string]attach.Handler{
		"ends its goroutine": func(*attach.Hit) { runtime.Goexit() },
		"blocks":             func(*attach.Hit) { <-over },
	} {
		t.Run(what, func(t *testing.T) {
			w := world(t)
			in := make(chan struct{})
			l := attachTo(t, func(h *attach.Hit) { close(in); f(h) }, nil, "ret:sys:getpid", "ret:sys:getpi*")
			p := start(t, w, func(p *proctest.Player) { p.Call(nGetpid) })
			<-in
			p.Send(abi.Siginfo{Signo: abi.SIGKILL})
			wait(t, p)
			expect(t, l, ledger.Ledger{Entered: 2, Abandoned: 2})
			l.Close()
		})
	}
}

// TestStuckHandlerWhileClosing: Close waits for a handler that does not return, until its process is
// killed. It used to wait for ever, as it had stopped listening to what becomes of threads.
func TestStuckHandlerWhileClosing(t *testing.T) {
	w := world(t)
	over, in, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(over)
	l := attachTo(t, func(*attach.Hit) { close(in); <-over }, nil, "sys:getpid")
	p := start(t, w, func(p *proctest.Player) { p.Call(nGetpid) })
	<-in
	go func() {
		l.Close()
		close(closed)
	}()
	time.Sleep(10 * time.Millisecond)
	p.Send(abi.Siginfo{Signo: abi.SIGKILL})
	wait(t, p)
	<-closed
	expect(t, l, ledger.Ledger{Entered: 1, Abandoned: 1})
}

// TestCloseWaits: when Close returns, no handler runs.
func TestCloseWaits(t *testing.T) {
	w := world(t)
	var over, running atomic.Bool
	program := func(p *proctest.Player) {
		for !over.Load() {
			p.Call(nGetpid)
		}
	}
	all := []*proc.Process{start(t, w, program), start(t, w, program)}
	for range 50 {
		var late atomic.Int64
		running.Store(true)
		l := attachTo(t, func(*attach.Hit) {
			if !running.Load() {
				late.Add(1)
			}
		}, nil, "sys:getpid", "sys:alarm")
		time.Sleep(time.Millisecond)
		l.Close()
		running.Store(false)
		if got := l.Ledger(); late.Load() != 0 || got.Unexplained() != 0 {
			t.Fatalf("%d hits after Close, %+v", late.Load(), got)
		}
	}
	over.Store(true)
	for _, p := range all {
		wait(t, p)
	}
}
