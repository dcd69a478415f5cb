//go:build tamago

package uprobes

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

func init() {
	suites.Add("uprobes/trap_and_goroutine_at_one_place", mixedPlace)
	suites.Add("uprobes/trap_handler_knows_its_thread", knowsThread)
	suites.Add("uprobes/trap_leaves_vectors_alone", vectors)
	suites.Add("uprobes/trap_handler_sets_ip", setsIP)
	suites.Add("uprobes/trap_returns_by_the_trampoline", trampolined)
	suites.Add("uprobes/trap_returns_of_deep_calls", deepCalls)
	suites.Add("uprobes/trap_hits_while_memory_is_watched", whileWatched)
	suites.Add("uprobes/trap_hit_goes_on_in_the_goroutine", goesOnInGoroutine)
	suites.Add("uprobes/trap_handler_hits_a_kernel_probe", hitsKernelProbe)
	suites.Add("uprobes/trap_hit_is_not_outside_of_probes", hitIsWaitedFor)
}

// trapped makes probes of this case trap-safe.
func trapped() (undo func()) {
	inTrap = true
	return func() { inTrap = false }
}

// mixedPlace: one handler that may block makes all hits of its place go to the goroutine.
func mixedPlace(t *suites.T) {
	defer trapped()()
	p := need(t, "/bin/probed")
	safe, blocking := newCounter(), newCounter()
	blocking.TrapSafe = false
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, &safe.Uprobe, "leaf") }, "spin")
	t.Until("hits in trap context", func() bool { return safe.trapped.Load() > 10 })
	line := fmt.Sprintf(`^ *%d  %016x  u   probed  .*boosted`, safe.Pid, safe.Vaddr)
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), line+" in the trap")
	p.probe(t, r.p, &blocking.Uprobe, "leaf")
	time.Sleep(10 * time.Millisecond)
	n := safe.trapped.Load()
	goesOn(t, blocking)
	if goesOn(t, safe); safe.trapped.Load() != n || blocking.trapped.Load() != 0 {
		t.Errorf("%d, then %d hits in trap context; %d of the other", n, safe.trapped.Load(), blocking.trapped.Load())
	}
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), line, line)
	t.Must(uprobes.UnregisterUprobe(&blocking.Uprobe))
	t.Until("hits in trap context again", func() bool { return safe.trapped.Load() > n+10 })
	r.kill(t)
	for _, c := range []*counter{safe, blocking} {
		if l := c.Ledger(); l.Handled != uint64(c.hits()) || l.Unexplained() != 0 {
			t.Errorf("%d hits, %+v", c.hits(), l)
		}
	}
}

func knowsThread(t *suites.T) {
	p := need(t, "/bin/probed")
	var right, wrong atomic.Int64
	var pid int
	u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		if th := uprobes.Current(); th != nil && th.Process().PID == pid {
			right.Add(1)
		} else {
			wrong.Add(1)
		}
	}}
	p.start(t, func(in *proc.Process) {
		pid = in.PID
		p.probe(t, in, u, "leaf")
	}, "threads").wait(t, "threads 6000000\n")
	if right.Load() != 4000 || wrong.Load() != 0 || uprobes.Current() != nil {
		t.Errorf("%d, and %d times another thread", right.Load(), wrong.Load())
	}
}

// sumsFloats has 7 in X0-X14, calls the place at ProgramAt+15*8 for ever... and ends with 1 if one of
// them has changed.
func vectorProgram() (code []byte, at uint64) {
	code = []byte{0xb8, 7, 0, 0, 0} // mov eax, 7
	for x := range 15 {
		rex := byte(0x48)
		if x > 7 {
			rex |= 4
		}
		code = append(code, 0x66, rex, 0x0f, 0x6e, 0xc0|byte(x&7)<<3) // movq xN, rax
	}
	code = append(code, 0x41, 0xbc, 0xe8, 3, 0, 0) // mov r12d, 1000
	loop := len(code)
	code = append(code, 0x90) // nop: the probe
	var fails []int
	for x := range 15 {
		rex := byte(0x48)
		if x > 7 {
			rex |= 4
		}
		code = append(code, 0x66, rex, 0x0f, 0x7e, 0xc3|byte(x&7)<<3) // movq rbx, xN
		code = append(code, 0x48, 0x83, 0xfb, 7, 0x0f, 0x85, 0, 0, 0, 0)
		fails = append(fails, len(code))
	}
	code = append(code, 0x41, 0xff, 0xcc, 0x0f, 0x85) // dec r12d; jnz loop
	rel := loop - (len(code) + 4)
	code = append(code, byte(rel), byte(rel>>8), byte(rel>>16), byte(rel>>24))
	code = append(code, 0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05) // xor edi, edi; exit
	fail := len(code)
	code = append(code, 0xbf, 1, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05) // mov edi, 1; exit
	for _, f := range fails {
		code[f-4] = byte(fail - f)
		code[f-3] = byte((fail - f) >> 8)
	}
	return code, suites.ProgramAt + uint64(loop)
}

var floats [4]float64

// vectors: a handler computes with floating-point numbers, and the program keeps its own.
func vectors(t *suites.T) {
	t.NeedPrograms()
	code, at := vectorProgram()
	suites.WriteProgram(t, "/vectors", code)
	defer vfs.Remove("/vectors")
	var trapped int
	u := &uprobes.Uprobe{Vaddr: at, TrapSafe: true, Handler: func(_ *uprobes.Uprobe, r *amd64.Regs) {
		for i := range floats {
			floats[i] = floats[(i+1)%4]*1.5 + float64(r.R12)/3 + 0.25
		}
		if cpu.InHandler() {
			trapped++
		}
	}}
	p := suites.StartProgram(t, "/vectors", func(p *proc.Process) {
		u.Pid = p.PID
		t.Must(uprobes.RegisterUprobe(u))
	})
	if s := suites.WaitProgram(t, p); s != 0 || u.Ledger().Handled != 1000 || trapped < 990 {
		t.Errorf("%v: %+v, %d in trap context", s, u.Ledger(), trapped)
	}
}

// setsIP: to where the program continues, and to what no program can have.
func setsIP(t *suites.T) {
	t.NeedPrograms()
	code := slices.Concat(slices.Repeat([]byte{0x90}, 30), []byte{0xeb, 0xe0, 0xfa, 0xeb, 0xfe}) // nops; jmp to the first; cli; jmp to itself
	suites.WriteProgram(t, "/jumps", code)
	defer vfs.Remove("/jumps")
	for _, c := range []struct {
		to     uint64
		signal int
	}{{1 << 63, abi.SIGSEGV}, {1 << 47, abi.SIGSEGV}, {suites.ProgramAt + 32, abi.SIGSEGV}, {suites.ProgramAt + 20, 0}} {
		hits, outside := 0, 0
		u := &uprobes.Uprobe{Vaddr: suites.ProgramAt + 10, TrapSafe: true}
		skipped := newCounter()
		skipped.Vaddr, skipped.TrapSafe = suites.ProgramAt+15, true
		u.Handler = func(_ *uprobes.Uprobe, r *amd64.Regs) {
			if hits++; hits < 5 {
				return
			}
			if !cpu.InHandler() {
				outside++
			}
			if cpu.InHandler() || outside > 1000 { // the program would not end
				r.IP, r.CS, r.SS, r.Flags = c.to, 8, 16, r.Flags|amd64.RFLAGS_IOPL
			}
		}
		p := suites.StartProgram(t, "/jumps", func(p *proc.Process) {
			u.Pid, skipped.Pid = p.PID, p.PID
			t.Must(uprobes.RegisterUprobe(u))
			t.Must(uprobes.RegisterUprobe(&skipped.Uprobe))
		})
		if c.signal == 0 {
			t.Until("hits", func() bool { return u.Ledger().Handled > 100 })
			p.Kill(abi.SIGKILL)
			c.signal = abi.SIGKILL
		}
		if s := suites.WaitProgram(t, p); s.Signal() != c.signal || skipped.hits() != 4 || outside != 0 {
			t.Errorf("to %#x: %v, %d hits of what is skipped, %d hits not in trap context", c.to, s, skipped.hits(), outside)
		}
	}
}

// trampolined: calls of a function in no file return by the trampoline.
func trampolined(t *suites.T) {
	countsReturns(t, 25, 11, []byte{
		0x41, 0xbc, 0x88, 0x13, 0, 0, // mov r12d, 5000
		0xe8, 14, 0, 0, 0, // call f
		0x41, 0xff, 0xcc, // dec r12d
		0x75, 0xf6, // jnz back
		0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
		0x90, 0xff, 0xc0, 0xc3, // f: nop; inc eax; ret
	})
}

// deepCalls: 100 calls within one another, for which a thread has no room at first.
func deepCalls(t *suites.T) {
	countsReturns(t, 25, 0, []byte{
		0x41, 0xbc, 50, 0, 0, 0, // mov r12d, 50
		0xe8, 14, 0, 0, 0, // call f
		0x41, 0xff, 0xcc, // dec r12d
		0x75, 0xf6, // jnz back
		0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
		0x90, 0x41, 0xff, 0xc5, 0x41, 0x83, 0xfd, 100, // f: nop; inc r13d; cmp r13d, 100
		0x74, 5, 0xe8, 0xf1, 0xff, 0xff, 0xff, // jz over it; call f
		0x41, 0xff, 0xcd, 0xc3, // dec r13d; ret
	})
}

// countsReturns runs a program that calls the function at off 5,000 times, to return to ret if that is
// not 0: all returns but the first are handled in trap context.
func countsReturns(t *suites.T, off, ret uint64, code []byte) {
	t.NeedPrograms()
	suites.WriteProgram(t, "/calls", code)
	defer vfs.Remove("/calls")
	var trapped, all atomic.Int64
	rp := &uprobes.Uretprobe{Handler: func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
		if all.Add(1); cpu.InHandler() && ri.RetAddr == r.IP && (ret == 0 || r.IP == suites.ProgramAt+ret) {
			trapped.Add(1)
		}
	}}
	rp.U.Vaddr, rp.U.TrapSafe = suites.ProgramAt+off, true
	p := suites.StartProgram(t, "/calls", func(p *proc.Process) {
		rp.U.Pid = p.PID
		t.Must(uprobes.RegisterUretprobe(rp))
	})
	s := suites.WaitProgram(t, p)
	if l := rp.U.Ledger(); s != 0 || all.Load() != 5000 || trapped.Load() < 4900 || l.Entered != 5000 || l.Handled != 5000 || l.InFlight != 0 {
		t.Errorf("%v: %d returns, %d in trap context: %+v", s, all.Load(), trapped.Load(), l)
	}
}

// goesOnInGoroutine: longjmp leaves calls behind, which the goroutine has to look at: the handlers that
// have been called by then are not called again.
func goesOnInGoroutine(t *suites.T) {
	defer trapped()()
	p := need(t, "/bin/probed")
	c := newCounter()
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	p.start(t, func(in *proc.Process) {
		p.probe(t, in, &c.Uprobe, "jumps")
		rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = c.Pid, c.Vaddr, true
		t.Must(uprobes.RegisterUretprobe(rp))
	}, "longjmps").wait(t, "longjmps 1000\n")
	c.way(t)
	if l := c.Ledger(); c.hits() != 1000 || l.Entered != 1000 || l.Handled != 1000 {
		t.Errorf("%d hits of 1000: %+v", c.hits(), l)
	}
	if l := rp.U.Ledger(); l.Entered != 1000 || l.Abandoned != 1000 || l.Unexplained() != 0 {
		t.Errorf("calls: %+v", l)
	}
}

//go:noinline
func called() int { return inner }

var inner int

// hitsKernelProbe: the innermost handler is to blame, and the outer one continues.
func hitsKernelProbe(t *suites.T) {
	defer trapped()()
	p := need(t, "/bin/probed")
	k := &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/uprobes.called", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		if inner++; inner == 20 {
			panic("of a test")
		}
		return 0
	}}
	inner = 0
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	n := 0
	u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		called()
		n++
	}}
	p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "calls").wait(t, "calls 1505500\n")
	if l, ul := k.Ledger(), u.Ledger(); l.Abandoned != 1 || l.Handled != 19 || n != 1000 || ul.Handled != 1000 || ul.Unexplained() != 0 {
		t.Errorf("%d: the kernel's %+v, the program's %+v", n, l, ul)
	}
}

// whileWatched: while something is watched, programs run with another IDT, which only leaving ring 3
// changes back: hits lead to the goroutine, and to the trap again afterwards.
func whileWatched(t *suites.T) {
	defer trapped()()
	defer uprobes.Force(place.Refused)
	p := need(t, "/bin/probed")
	uprobes.Force(place.Step)
	c := newCounter()
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, &c.Uprobe, "leaf") }, "spin")
	for range 3 {
		n := c.trapped.Load()
		t.Until("hits in trap context", func() bool { return c.trapped.Load() > n+10 })
		reg, err := kwatch.RegisterKwatch(uintptr(unsafe.Pointer(&watched)), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {})
		t.Must(err)
		time.Sleep(10 * time.Millisecond)
		n = c.trapped.Load()
		goesOn(t, c)
		if c.trapped.Load() != n {
			t.Errorf("%d hits in trap context", c.trapped.Load()-n)
		}
		t.Must(kwatch.UnregisterKwatch(reg))
	}
	r.kill(t)
	if l := c.Ledger(); l.Handled != uint64(c.hits()) || l.Unexplained() != 0 {
		t.Errorf("%d hits: %+v", c.hits(), l)
	}
}

var watched uint64

// hitIsWaitedFor: a CPU stands in a hit of a program, and no grace period ends meanwhile. A case that comes late may find
// that the handler has been abandoned, and tries again.
func hitIsWaitedFor(t *suites.T) {
	t.SeveralProcessors()
	defer suites.NoCollection()()
	p := need(t, "/bin/probed")
	for range 10 {
		h := new(suites.Standing)
		u := &uprobes.Uprobe{TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
			if cpu.InHandler() { // a thread's first hit is handled in its goroutine
				h.Stand()
			}
		}}
		r := p.start(t, func(in *proc.Process) { p.probe(t, in, u, "leaf") }, "spin")
		t.Until("a hit", h.Stands)
		stood, passed := h.Passed()
		r.kill(t)
		if u.Ledger().Abandoned != 0 {
			continue
		}
		if !stood || passed {
			t.Errorf("a CPU stands in a hit: %v; it is outside of all probes: %v", stood, passed)
		}
		return
	}
	t.Fatalf("the handler has been abandoned each time")
}
