//go:build tamago

package uprobes

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/glass"
	"sonde/uprobes"
)

func init() {
	both("uprobes/camera_eight_at_once", filmEight)
	suites.Add("uprobes/camera_never_hit", filmNever)
	both("uprobes/camera_dies", filmDies)
	both("uprobes/camera_unregistered_while_recording", filmUnregistered)
	both("uprobes/camera_storm", filmStorm)
}

// filmEight: at eight places of as many processes, a ninth is refused, as is a second one at a place.
func filmEight(t *suites.T) {
	var films []*film
	var runs []*run
	for range glass.Most / 2 {
		r := runFilmed(t)
		runs = append(runs, r)
		films = append(films, record(t, r.p, filmedFunction, 50, true), record(t, r.p, filmedCall, 50, false))
	}
	if _, err := glass.New(1, -1); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("one more: %v", err)
	}
	again := uprobes.Camera{Film: films[0].film, RP: uprobes.Uretprobe{U: uprobes.Uprobe{Pid: runs[0].p.PID, Vaddr: filmedFunction}}}
	if err := uprobes.RegisterCamera(&again); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a second one: %v", err)
	}
	for _, f := range films {
		t.Until("the recording is over", f.film.Done)
	}
	for i, f := range films {
		if i%2 == 0 {
			f.has(glass.Trapped, glass.Replaced, glass.ToSlot, glass.Trampoline, glass.GoesBack)
		} else {
			f.has(glass.Trapped, glass.Emulates, glass.Emulated)
		}
	}
	for _, f := range films {
		f.close()
	}
	for _, r := range runs {
		if !sameText(r.p, filmed) {
			t.Errorf("the code has changed")
		}
		r.kill(t)
	}
}

// filmNever: nothing is recorded, and the camera goes.
func filmNever(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	f := record(t, r.p, filmedFunction, 1<<40, true)
	t.Until("hits", func() bool { return f.film.Seen() > 100 })
	if f.close(); f.film.Done() || f.film.Begun() {
		t.Errorf("something is recorded")
	}
	if !sameText(r.p, filmed) {
		t.Errorf("the code has changed")
	}
}

// filmDies: a process ends before the wanted hit, and in it.
func filmDies(t *suites.T) {
	r := runFilmed(t)
	f := record(t, r.p, filmedFunction, 1<<40, true)
	r.kill(t)
	t.Until("the recording is over", f.film.Done)
	if frames, _ := f.film.Recorded(); len(frames) != 0 {
		t.Errorf("%d frames", len(frames))
	}
	f.close()
	defer func(was bool) { inTrap = was }(inTrap)
	inTrap = false
	r = runFilmed(t)
	var own atomic.Pointer[film]
	u := &uprobes.Uprobe{Pid: r.p.PID, Vaddr: filmedFunction, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if f := own.Load(); f != nil && f.film.Begun() {
			runtime.Goexit()
		}
	}}
	t.Must(uprobes.RegisterUprobe(u))
	t.Must(r.p.Send(proc.SignalOf(abi.SIGSTOP))) // so that the handler knows the film at the recorded hit
	t.Until("the program to stop", func() bool { return r.p.State() == "T" })
	f = record(t, r.p, filmedFunction, 200, false)
	own.Store(f)
	t.Must(r.p.Send(proc.SignalOf(abi.SIGCONT)))
	t.Until("the recording is over", f.film.Done)
	frames, _ := f.film.Recorded()
	f.close()
	r.kill(t)
	if got, want := stages(frames), []glass.Stage{glass.Trapped, glass.Enters, glass.Died}; !slices.Equal(got, want) {
		t.Errorf("stages %v, want %v", got, want)
	}
}

// filmUnregistered: the call that is recorded returns as if there had been no camera.
func filmUnregistered(t *suites.T) {
	r := runFilmed(t)
	defer r.kill(t)
	for i := range 20 {
		f := record(t, r.p, filmedFunction, uint64(i+1), true)
		for !f.film.Begun() {
			runtime.Gosched()
		}
		f.close()
		frames, _ := f.film.Recorded()
		time.Sleep(time.Millisecond)
		if later, _ := f.film.Recorded(); len(later) != len(frames) {
			t.Fatalf("%d frames, then %d", len(frames), len(later))
		}
	}
	n := word(t, r.p, suites.ProgramData)
	t.Until("the program goes on", func() bool { return word(t, r.p, suites.ProgramData) > n })
	if !sameText(r.p, filmed) {
		t.Errorf("the code has changed")
	}
}

// filmStorm: processes call a function with probes of each kind while cameras come and go, and the
// collector runs. A camera may be taken away at any moment; what it has until then keeps the rules.
func filmStorm(t *suites.T) {
	t.NeedPrograms()
	const path, rounds = "/filmed", 20
	suites.WriteProgram(t, path, filmed)
	defer vfs.Remove(path)
	at := uprobes.Uprobe{Path: path, Offset: filmedFunction - 0x400000, TrapSafe: inTrap}
	u, rp := &uprobes.Uprobe{}, &uprobes.Uretprobe{}
	u.Path, u.Offset, u.TrapSafe, u.Handler = at.Path, at.Offset, inTrap, func(*uprobes.Uprobe, *amd64.Regs) {}
	rp.U.Path, rp.U.Offset, rp.U.TrapSafe, rp.Handler = at.Path, at.Offset, inTrap, func(*uprobes.UretprobeInstance, *amd64.Regs) {}
	t.Must(uprobes.RegisterUprobe(u))
	t.Must(uprobes.RegisterUretprobe(rp))
	byPID := map[int]*run{}
	for range cpu.Num() + 1 {
		r := &run{p: suites.StartProgram(t, path, nil)}
		byPID[r.p.PID] = r
	}
	var stop atomic.Bool
	t.Go(func() {
		for !stop.Load() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	over := 0
	for i := range rounds {
		own, err := glass.New(uint64(1+i*7%50), -1)
		t.Must(err)
		f := &film{t: t, film: own, camera: uprobes.Camera{Film: own, Blocks: !inTrap, Return: i%2 == 0}}
		f.camera.RP.U.Path, f.camera.RP.U.Offset = at.Path, at.Offset
		t.Must(uprobes.RegisterCamera(&f.camera))
		for until := time.Now().Add(time.Duration(i%4) * 20 * time.Millisecond); !own.Done() && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		if frames, lost := own.Recorded(); len(frames) > 0 {
			f.p, f.camera.RP.U.Vaddr = byPID[int(frames[0].PID)].p, filmedFunction
			f.slot = uprobes.SlotOf(f.p, filmedFunction)
			f.check(frames)
			f.camera.RP.U.Vaddr = 0
			if own.Done() {
				over++
			}
			if lost != 0 {
				t.Errorf("%d frames are lost", lost)
			}
		}
		f.close()
	}
	stop.Store(true)
	t.Wait()
	killAll(t, byPID)
	t.Must(uprobes.UnregisterUretprobe(rp))
	t.Must(uprobes.UnregisterUprobe(u))
	t.Logf("%d of %d hits recorded to their end", over, rounds)
	if over < rounds/10 || u.Ledger().Unexplained() != 0 || rp.U.Ledger().Unexplained() != 0 {
		t.Errorf("%d recorded; %+v, %+v", over, u.Ledger(), rp.U.Ledger())
	}
}

func killAll(t *suites.T, all map[int]*run) {
	for _, r := range all {
		if n := word(t, r.p, suites.ProgramData); n == 0 {
			t.Errorf("process %d has not run", r.p.PID)
		}
		r.kill(t)
	}
}
