//go:build tamago

package uprobes

import (
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/glass"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

func init() {
	both("uprobes/camera_boosted", filmBoosted)
	both("uprobes/camera_stepped", filmStepped)
	both("uprobes/camera_emulated", filmEmulated)
	suites.Add("uprobes/camera_system_call", filmSyscall)
	both("uprobes/camera_return_by_the_trampoline", filmTrampoline)
	both("uprobes/camera_return_by_exits", filmExits)
	both("uprobes/camera_return_of_go", filmGo)
	both("uprobes/camera_handler_abandoned", filmAbandoned)
	suites.Add("uprobes/camera_handler_sleeps", filmSleeps)
}

// beside registers a probe at an address, whose handler tells what registers it got.
func beside(t *suites.T, r *run, addr uint64, saw func(regs [glass.NumRegs]uint64)) *uprobes.Uprobe {
	u := &uprobes.Uprobe{Pid: r.p.PID, Vaddr: addr, TrapSafe: inTrap, Handler: func(_ *uprobes.Uprobe, regs *amd64.Regs) {
		var f glass.Frame
		f.SetRegs(regs)
		saw(f.Regs)
	}}
	t.Must(uprobes.RegisterUprobe(u))
	return u
}

// filmBoosted: what the handler sees are the registers of the frame, and after the recording everything is
// as it was.
func filmBoosted(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	n, found := 0, [64][glass.NumRegs]uint64{}
	u := beside(t, r, filmedFunction, func(regs [glass.NumRegs]uint64) { found[n%64] = regs; n++ })
	t.Until("a hit", func() bool { return n > 2 })
	way, _ := u.Way()
	frames := recorded(t, r.p, filmedFunction, false, glass.Trapped, glass.Enters, glass.Returned, glass.ToSlot)
	if now, _ := u.Way(); now != way {
		t.Errorf("the place is %s, was %s", now, way)
	}
	at := n
	t.Until("hits without a camera", func() bool { return n > at+2 })
	t.Must(uprobes.UnregisterUprobe(u))
	if !sameText(r.p, filmed) {
		t.Errorf("the code has changed")
	}
	ok := false
	for _, regs := range found {
		ok = ok || regs == frames[1].Regs
	}
	if !ok && n < 64 {
		t.Errorf("no hit had %#x", frames[1].Regs)
	}
	if l := u.Ledger(); l.Handled != uint64(n) || l.Unexplained() != 0 {
		t.Errorf("%d hits, %+v", n, l)
	}
}

// filmStepped: the INCQ at the recorded hit counts once.
func filmStepped(t *suites.T) {
	uprobes.Force(place.Step)
	defer uprobes.Force(place.Refused)
	r := runFilmed(t)
	defer r.kill(t)
	u := beside(t, r, filmedInc, func([glass.NumRegs]uint64) {})
	recorded(t, r.p, filmedInc, false, glass.Trapped, glass.Enters, glass.Returned, glass.ToStep, glass.PutBack)
	t.Must(uprobes.UnregisterUprobe(u))
}

// filmEmulated: a CALL pushes the address after it.
func filmEmulated(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	frames := recorded(t, r.p, filmedCall, false, glass.Trapped, glass.Emulates, glass.Emulated)
	call, done := &frames[1], &frames[2]
	want := call.Regs
	want[ip], want[sp] = filmedFunction, want[sp]-8
	if done.Regs != want || done.Stack[0] != filmedInc || done.Stack[1] != 42 || call.Note[1] != filmedInc || call.Stack[0] != 42 {
		t.Errorf("it pushes %#x; registers %#x, want %#x, stack %#x", call.Note[1], done.Regs, want, done.Stack)
	}
}

// filmSyscall: the kernel makes the system call in place of the program.
func filmSyscall(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	frames := recorded(t, r.p, filmedSyscall, false, glass.Trapped, glass.Calls, glass.Called)
	if frames[1].Note[0] != 39 || frames[2].Regs[ax] != uint64(r.p.PID) {
		t.Errorf("call %d returns %d", frames[1].Note[0], frames[2].Regs[ax])
	}
}

// filmTrampoline: while the call is noted, the stack has the trampoline's address.
func filmTrampoline(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = r.p.PID, filmedFunction, inTrap
	t.Must(uprobes.RegisterUretprobe(rp))
	frames := recorded(t, r.p, filmedFunction, false, glass.Trapped, glass.Replaced, glass.ToSlot, glass.Trampoline, glass.Enters, glass.Returned, glass.GoesBack)
	noted, back, goes := &frames[1], &frames[3], &frames[6]
	if noted.Note != [2]uint64{noted.Regs[sp], filmedInc} || noted.Stack[0] != back.Regs[ip] || noted.Stack[0] == filmedInc {
		t.Errorf("at %#x was %#x, and is %#x", noted.Note[0], noted.Note[1], noted.Stack[0])
	}
	if goes.Regs[ip] != filmedInc || goes.Regs[ax] != uint64(r.p.PID) {
		t.Errorf("it goes back to %#x, with AX %d", goes.Regs[ip], goes.Regs[ax])
	}
	t.Must(uprobes.UnregisterUretprobe(rp))
	if l := rp.U.Ledger(); l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// filmExits: of a function whose exits are known, nothing on the stack changes.
func filmExits(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, nil, "spin")
	defer r.kill(t)
	for hit := range uint64(4) {
		frames := record(t, r.p, p.addr(t, r.p, "leaf"), 5+hit, true).ended(glass.Trapped, glass.Awaited, glass.ToSlot, glass.Exited, glass.GoesBack)
		noted, exited := &frames[1], &frames[3]
		if to := noted.Note[1]; noted.Note[0] != noted.Regs[sp] || noted.Stack[0] != to || exited.Regs[ip] != to || frames[4].Regs[ip] != to {
			t.Errorf("it is to go back to %#x, and goes to %#x, %#x", to, exited.Regs[ip], frames[4].Regs[ip])
		}
	}
}

// filmGo: a Go function is seen at its return instruction.
func filmGo(t *suites.T) {
	p := need(t, "/bin/gothreads")
	own, err := glass.New(20, -1)
	t.Must(err)
	defer own.Close()
	c := uprobes.Camera{Film: own, Return: true, Blocks: !inTrap}
	r := p.start(t, func(in *proc.Process) {
		c.RP.U.Pid, c.RP.U.Vaddr = in.PID, p.addr(t, in, "main.deep")
		t.Must(uprobes.RegisterCamera(&c))
	})
	t.Until("the recording is over", own.Done)
	frames, _ := own.Recorded()
	uprobes.UnregisterCamera(&c)
	r.kill(t)
	if got, want := stages(frames), []glass.Stage{glass.Trapped, glass.Emulates, glass.Exited, glass.GoesBack}; !slices.Equal(got, want) {
		t.Fatalf("stages %v, want %v", got, want)
	}
	ret, done := &frames[1], &frames[2]
	want := ret.Regs
	want[ip], want[sp] = ret.Stack[0], want[sp]+8
	if ret.Note[0] != ret.Regs[sp] || done.Regs != want || done.Stack[0] != ret.Stack[1] {
		t.Errorf("registers %#x, want %#x", done.Regs, want)
	}
}

// filmAbandoned: the handler breaks the rules at the recorded hit, and the hit continues.
func filmAbandoned(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	var own atomic.Pointer[film]
	u := &uprobes.Uprobe{Pid: r.p.PID, Vaddr: filmedFunction, TrapSafe: inTrap, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if f := own.Load(); f != nil && f.film.Begun() {
			panic("a handler of a program's probe")
		}
	}}
	t.Must(uprobes.RegisterUprobe(u))
	t.Must(r.p.Send(proc.SignalOf(abi.SIGSTOP))) // so that the handler knows the film at the recorded hit
	t.Until("the program to stop", func() bool { return r.p.State() == "T" })
	f := record(t, r.p, filmedFunction, 200, false)
	own.Store(f)
	t.Must(r.p.Send(proc.SignalOf(abi.SIGCONT)))
	t.Until("the recording is over", f.film.Done)
	frames, _ := f.film.Recorded()
	f.close()
	t.Must(uprobes.UnregisterUprobe(u))
	if got, want := stages(frames), []glass.Stage{glass.Trapped, glass.Enters, glass.Abandoned, glass.ToSlot}; !slices.Equal(got, want) || frames[2].Why[0] == 0 {
		t.Errorf("stages %v, want %v", got, want)
	}
}

// filmSleeps: a handler that may block does, and the frames show for how long.
func filmSleeps(t *suites.T) {
	const sleep = 20 * time.Millisecond
	r := runFilmed(t)
	defer r.kill(t)
	u := &uprobes.Uprobe{Pid: r.p.PID, Vaddr: filmedFunction, Handler: func(*uprobes.Uprobe, *amd64.Regs) { time.Sleep(sleep) }}
	t.Must(uprobes.RegisterUprobe(u))
	f := record(t, r.p, filmedFunction, 2, false)
	frames := f.ended(glass.Trapped, glass.Enters, glass.Returned, glass.ToSlot)
	if d := cpu.Duration(frames[2].Time - frames[1].Time); d < sleep {
		t.Errorf("it has slept for %v", d)
	}
	t.Must(uprobes.UnregisterUprobe(u))
}
