//go:build tamago && !nolinux

package bpf

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/bpf"
	"sonde/kernel/cpu"
	"sonde/kprobes/detour"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/glass"
	"sonde/probe/program"
	"sonde/uprobes"
)

func init() {
	suites.Add("bpf/fused_in_programs", fusedInPrograms)
	suites.Add("bpf/fused_values_in_programs", fusedValuesInPrograms)
	suites.Add("bpf/fused_goes_back_in_programs", fusedGoesBackInPrograms)
	for _, how := range []string{"alone", "second_probe", "return_probe", "sysctl", "held", "watched", "disabled", "removed"} {
		suites.Add("bpf/fused_storm_in_programs_"+how, func(t *suites.T) { fusedStormInPrograms(t, how) })
	}
}

const (
	programPath = "/tmp/fused"
	phi         = 0x9E3779B97F4A7C15
)

// A callingProgram is a program that calls f, and then ends with status 0, or waits to be killed. It ends with status 77 if a call
// has changed a register or a flag.
type callingProgram struct {
	calls int
	first []byte // what f begins with
	waits bool
	f     uint64
}

// argument is what DI is when so many calls are left.
func argument(left int) uint64 { return phi * uint64(left) >> (left & 63) }

// write makes the program.
func (c *callingProgram) write(t *suites.T) *callingProgram {
	t.NeedPrograms()
	var code []byte
	put := func(b ...byte) { code = append(code, b...) }
	word := func(n int) { code = binary.LittleEndian.AppendUint32(code, uint32(n)) }
	regs := []byte{0, 2, 3, 5, 6, 8, 9, 10, 11, 13, 14, 15} // AX, DX, BX, BP, SI, R8 to R11, R13 to R15
	put(0x41, 0xBC)                                         // MOVL $calls, R12
	word(c.calls)
	again := len(code)
	for _, r := range regs {
		put(0x48|r>>3, 0xC7, 0xC0|r&7, 0x40+r, 0x30, 0x20, 0x10) // MOVQ $number, r
	}
	put(0x48, 0xBF) // MOVQ $phi, DI
	code = binary.LittleEndian.AppendUint64(code, phi)
	put(0x49, 0x0F, 0xAF, 0xFC, 0x44, 0x89, 0xE1, 0x48, 0xD3, 0xEF)                    // IMULQ R12, DI; MOVL R12, CX; SHRQ CX, DI
	put(0x68, 0xD7, 0x08, 0, 0, 0x9D, 0xE8, 0, 0, 0, 0)                                // PUSHQ $the flags; POPFQ; CALL f
	call := len(code)                                                                  //
	put(0x9C, 0x81, 0x24, 0x24, 0xD7, 0x08, 0, 0)                                      // PUSHFQ; ANDL $the flags, (SP)
	put(0x81, 0x3C, 0x24, 0xD7, 0x08, 0, 0, 0x48, 0x8D, 0x64, 0x24, 8)                 // CMPL (SP), $the flags; LEAQ 8(SP), SP
	var wrong []int                                                                    //
	unless := func() { put(0x0F, 0x85, 0, 0, 0, 0); wrong = append(wrong, len(code)) } // JNE
	unless()
	for _, r := range regs {
		put(0x48|r>>3, 0x81, 0xF8|r&7, 0x40+r, 0x30, 0x20, 0x10) // CMPQ r, $number
		unless()
	}
	put(0x41, 0xFF, 0xCC, 0x0F, 0x85) // DECL R12; JNE again
	word(again - len(code) - 4)
	if c.waits {
		put(0xB8, 34, 0, 0, 0, 0x0F, 0x05) // pause()
	}
	put(0x31, 0xFF, 0xB8, 60, 0, 0, 0, 0x0F, 0x05) // exit(0)
	for _, at := range wrong {
		binary.LittleEndian.PutUint32(code[at-4:], uint32(len(code)-at))
	}
	put(0xBF, 77, 0, 0, 0, 0xB8, 60, 0, 0, 0, 0x0F, 0x05) // exit(77)
	binary.LittleEndian.PutUint32(code[call-4:], uint32(len(code)-call))
	c.f = suites.ProgramAt + uint64(len(code))
	put(c.first...)
	put(0xC3)
	suites.WriteProgram(t, programPath, code)
	return c
}

// in is the place of f in a process.
func (c *callingProgram) in(p *proc.Process) string { return fmt.Sprintf("%d:%#x", p.PID, c.f) }

// ends waits for the end of p.
func (c *callingProgram) ends(t *suites.T, p *proc.Process) {
	want := proc.Status(0)
	if c.waits {
		p.Kill(9)
		want = 9
	}
	if s := suites.WaitProgram(t, p); s != want {
		t.Errorf("it ends with status %#x, not %#x", s, want)
	}
}

// run runs it until it has made its calls, and returns how its hits are handled then.
func (c *callingProgram) run(t *suites.T, l **program.Link, ready func(*proc.Process)) (way string) {
	p := suites.StartProgram(t, programPath, ready)
	t.Until("all calls", func() bool { return (*l).Ledger().Handled >= uint64(c.calls) || ended(p) })
	way = (*l).Places()[0].Way
	c.ends(t, p)
	return way
}

func ended(p *proc.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// fusedInPrograms: at each kind of instruction, each hit is counted once, and nothing of the program's is changed.
func fusedInPrograms(t *suites.T) {
	for _, x := range []struct {
		way   string
		first []byte
	}{
		{"fused", []byte{0x90}},                         // NOP
		{"fused", []byte{0xF3, 0x0F, 0x1E, 0xFA}},       // ENDBR64
		{"fused", []byte{0x48, 0x89, 0xC0}},             // MOVQ AX, AX
		{"fused", []byte{0x48, 0x8D, 0x64, 0x24, 0}},    // LEAQ (SP), SP
		{"fused", []byte{0x48, 0x8B, 0x0D, 0, 0, 0, 0}}, // MOVQ (IP), CX
		{"fused", []byte{0x66, 0x0F, 0x1F, 0x44, 0, 0}}, // NOP
		{"emulated in the trap", []byte{0xEB, 0}},       // JMP
		{"fused", []byte{0x55, 0x5D, 0x90}},             // PUSHQ BP; POPQ BP
	} {
		c := (&callingProgram{calls: 1000, first: x.first, waits: true}).write(t)
		p := load(t, count)
		var l *program.Link
		if way := c.run(t, &l, func(in *proc.Process) { l = p.attach(t, c.in(in)) }); way != x.way {
			t.Errorf("% x: %s, not %s", x.first, way, x.way)
		}
		l.Close()
		led, sum := l.Ledger(), word(t, p.maps[0], key4(0))
		if led.Entered != 1000 || led.Handled != 1000 || sum != 1000 || led.Unexplained() != 0 {
			t.Errorf("% x: %+v, the map has %d", x.first, led, sum)
		}
		p.close()
	}
}

// fusedValuesInPrograms: a histogram of an argument has what the interpreter would have counted.
func fusedValuesInPrograms(t *suites.T) {
	c := (&callingProgram{calls: 5000, first: []byte{0x90}, waits: true}).write(t)
	p := load(t, strings.Replace(log2At, "r1 + 80", "r1 + 112", 1))
	defer p.close()
	var l *program.Link
	if way := c.run(t, &l, func(in *proc.Process) { l = p.attach(t, c.in(in)) }); way != "fused" {
		t.Errorf("it is %s", way)
	}
	l.Close()
	var want, got [bpf.HistBuckets]uint64
	for left := c.calls; left > 0; left-- {
		want[bpf.Bucket(int64(argument(left)))]++
	}
	value := make([]byte, 8*len(got))
	for i := range p.maps[0].Tables() {
		t.Must(p.maps[0].Lookup(i, key4(0), value))
		for b := range got {
			got[b] += binary.LittleEndian.Uint64(value[8*b:])
		}
	}
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// Another probe at f.
func (c *callingProgram) beside(p *proc.Process) *uprobes.Uprobe {
	return &uprobes.Uprobe{Pid: p.PID, Vaddr: c.f, TrapSafe: true, Handler: func(*uprobes.Uprobe, *amd64.Regs) {}}
}

func (c *callingProgram) returns(p *proc.Process) *uprobes.Uretprobe {
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = p.PID, c.f, true
	return rp
}

// fusedGoesBackInPrograms: whatever ends it has ended it when it returns.
func fusedGoesBackInPrograms(t *suites.T) {
	c := (&callingProgram{calls: 1000, first: []byte{0x90}, waits: true}).write(t)
	p := load(t, count)
	defer p.close()
	var l *program.Link
	in := suites.StartProgram(t, programPath, func(in *proc.Process) { l = p.attach(t, c.in(in)) })
	t.Until("all calls", func() bool { return l.Ledger().Handled >= uint64(c.calls) })
	var stop func()
	other, rp := c.beside(in), c.returns(in)
	own, err := glass.New(20, -1)
	t.Must(err)
	defer own.Close()
	camera := &uprobes.Camera{Film: own}
	camera.RP.U.Pid, camera.RP.U.Vaddr = in.PID, c.f
	for _, x := range []struct {
		name      string
		end, undo func() error
	}{
		{"second probe", func() error { return uprobes.RegisterUprobe(other) }, func() error { return uprobes.UnregisterUprobe(other) }},
		{"return probe", func() error { return uprobes.RegisterUretprobe(rp) }, func() error { return uprobes.UnregisterUretprobe(rp) }},
		{"camera", func() error { return uprobes.RegisterCamera(camera) }, func() error { uprobes.UnregisterCamera(camera); return nil }},
		{"watched", func() (err error) { stop, err = p.Watch(); return err }, func() error { stop(); return nil }},
		{"budget", func() error { return p.SetBudget(1000) }, func() error { return p.SetBudget(0) }},
		{"held", func() error { return p.Hold(true) }, func() error { return p.Hold(false) }},
		{"sysctl", func() error { return detour.Fusing.Store(false) }, func() error { return detour.Fusing.Store(true) }},
		{"plain", func() error { return detour.Plain.Store(true) }, func() error { return detour.Plain.Store(false) }},
	} {
		if way := l.Places()[0].Way; way != "fused" {
			t.Errorf("before %s: %s", x.name, way)
		}
		t.Must(x.end())
		if way := l.Places()[0].Way; way == "fused" {
			t.Errorf("%s: it is fused", x.name)
		}
		t.Must(x.undo())
	}
	t.Must(l.Enable(false))
	t.Must(l.Enable(true))
	if way := l.Places()[0].Way; way != "fused" {
		t.Errorf("at the end: %s", way)
	}
	c.ends(t, in)
	l.Close()
	p.balance(t, l, uint64(c.calls))
}

// fusedStormInPrograms: a program on each CPU, while garbage is collected and something else goes on. Each hit is counted
// once; where some are not to be counted, those that are have one count in each place.
func fusedStormInPrograms(t *suites.T, how string) {
	c := (&callingProgram{calls: suites.Rounds(100_000, 1_000_000), first: []byte{0x48, 0x89, 0xC0}}).write(t)
	p := load(t, count)
	defer p.close()
	l := p.attach(t, fmt.Sprintf("%s:%#x", programPath, c.f-suites.ProgramBase))
	var running []*proc.Process
	for range cpu.Num() {
		running = append(running, suites.StartProgram(t, programPath, nil))
	}
	var others sync.WaitGroup
	var over atomic.Bool
	changes := 0
	others.Go(func() {
		for !over.Load() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	past := uint64(0)
	t.Until("hits", func() bool { return l.Ledger().Handled > 0 })
	others.Go(func() {
		for ; !over.Load() && !t.Failed(); changes++ {
			undo := disturbPrograms(t, c, p, running, how, &l, &past)
			if how != "disabled" {
				time.Sleep(time.Millisecond)
			}
			undo()
			time.Sleep(time.Millisecond)
		}
	})
	for _, in := range running {
		c.ends(t, in)
	}
	over.Store(true)
	others.Wait()
	l.Close()
	all, sum, calls := l.Ledger(), p.total(t), uint64(c.calls*cpu.Num())
	handled := all.Handled + past
	switch {
	case all.Unexplained() != 0 || all.Entered != all.Handled+all.Disarmed:
		t.Errorf("%+v", all)
	case how == "held" || how == "watched":
		if handled != calls || sum > handled {
			t.Errorf("%d handled of %d, the map has %d", handled, calls, sum)
		}
	case how == "disabled" || how == "removed":
		if sum != handled || handled > calls || handled == 0 {
			t.Errorf("%d handled of %d, the map has %d", handled, calls, sum)
		}
	case handled != calls || sum != calls:
		t.Errorf("%d handled of %d, the map has %d; %+v", handled, calls, sum, all)
	}
	if a := p.Account(); a.Unexplained != 0 {
		t.Errorf("%+v", a)
	}
	t.Logf("%d calls, %d changes", calls, changes)
}

// disturbPrograms makes the place change its form, until undo.
func disturbPrograms(t *suites.T, c *callingProgram, p *loaded, running []*proc.Process, how string, l **program.Link, past *uint64) (undo func()) {
	in := running[0]
	switch how {
	case "second_probe":
		if u := c.beside(in); uprobes.RegisterUprobe(u) == nil {
			return func() { uprobes.UnregisterUprobe(u) }
		}
	case "return_probe":
		if rp := c.returns(in); uprobes.RegisterUretprobe(rp) == nil {
			return func() { uprobes.UnregisterUretprobe(rp) }
		}
	case "sysctl":
		t.Must(detour.Fusing.Store(false))
		return func() { t.Must(detour.Fusing.Store(true)) }
	case "held":
		t.Must(p.Hold(true))
		return func() { t.Must(p.Hold(false)) }
	case "watched":
		stop, err := p.Watch()
		t.Must(err)
		return stop
	case "disabled":
		t.Must((*l).Enable(false))
		return func() { t.Must((*l).Enable(true)) }
	case "removed": // and another program comes and goes, whose memory is used again
		place := fmt.Sprintf("%s:%#x", programPath, c.f-suites.ProgramBase)
		(*l).Close()
		*past += (*l).Ledger().Handled
		other := load(t, count)
		other.attach(t, place).Close()
		other.close()
		*l = p.attach(t, place)
	}
	return func() {}
}
