package replay

import (
	"bytes"
	"fmt"
	"strings"

	"sonde/kallsyms"
	"sonde/probe/glass"
)

// stages has the name of each stage in JSON, and what happens in words.
var stages = [...]struct{ name, says string }{
	glass.Trapped:    {"trap", ""},
	glass.Jumped:     {"soft-trap", "soft trap from the detour"},
	glass.Grows:      {"grows", "the stack grows: not a call yet"},
	glass.Enters:     {"handler-entered", ""},
	glass.Off:        {"handler-off", ""},
	glass.Returned:   {"handler-returned", ""},
	glass.TookOver:   {"took-over", "handler has taken over"},
	glass.Replaced:   {"return-replaced", "return address replaced"},
	glass.Unnoted:    {"return-not-noted", "the call is not noted"},
	glass.Copied:     {"arguments-copied", "jprobe handler entered"},
	glass.Ended:      {"jprobe-ended", "jprobe handler ended"},
	glass.ToSlot:     {"to-slot", "to the slot, which runs by itself"},
	glass.ToStep:     {"to-step", "to the slot, to be stepped"},
	glass.ToDetour:   {"to-detour", "to the detour's copy"},
	glass.Branched:   {"branched", "to the target of the jump"},
	glass.Emulates:   {"emulation-begins", "emulation begins"},
	glass.Emulated:   {"emulated", "instruction emulated"},
	glass.Decided:    {"decided", "stack check decided: passed"},
	glass.Stepped:    {"stepped", "#DB behind the copy"},
	glass.PutBack:    {"put-back", "IP and flags put back"},
	glass.Faulted:    {"faulted", "the instruction faults"},
	glass.Trampoline: {"trampoline", "trampoline"},
	glass.GoesBack:   {"goes-back", "goes back"},
	glass.Nested:     {"nested-hit", "hit inside a handler: missed"},
	glass.Abandoned:  {"handler-abandoned", "handler abandoned"},
	glass.Watched:    {"debug-trap", "#DB trap"},
	glass.Accessed:   {"accessed", "is"},
	glass.GoesOn:     {"goes-on", "goes on"},
	glass.Awaited:    {"return-noted", "the call is noted"},
	glass.Exited:     {"returned", "has returned, by an instruction that has a probe"},
	glass.Calls:      {"system-call", "the kernel makes system call"},
	glass.Called:     {"system-call-made", "the system call is made"},
	glass.Died:       {"thread-ended", "the thread has ended"},
	glass.Leaves:     {"leaves", "seen by the witness"},
}

// says is what f shows, in a sentence; what IP leads to is not part of it.
func (t *Take) says(f *glass.Frame) string {
	s := stages[f.Stage].says
	a, b := f.Note[0], f.Note[1]
	switch f.Stage {
	case glass.Enters:
		return t.role(f) + " entered"
	case glass.Off:
		return "a probe is disabled: not called"
	case glass.Returned:
		if b != glass.Pre {
			return t.role(f) + " returned"
		}
		return fmt.Sprintf("%s returned %d", t.role(f), int64(a))
	case glass.Trapped:
		s = hows[a%uint64(len(hows))]
	case glass.Awaited:
		s = fmt.Sprintf("%s: at %#x is %s", s, a, t.whereLine(b))
	case glass.Calls:
		s = fmt.Sprintf("%s %d", s, a)
	case glass.Grows:
		s = fmt.Sprintf("%s; SP %#x, limit %#x", s, a, b)
	case glass.Decided:
		s = fmt.Sprintf("%s; %#x is above the limit %#x", s, a, b)
	case glass.Replaced:
		s = fmt.Sprintf("%s: at %#x was %s", s, a, t.whereLine(b))
	case glass.Copied:
		s = fmt.Sprintf("%s, with the arguments and %d words copied from %#x", s, b, a)
	case glass.Ended:
		s += map[bool]string{true: " by JprobeReturn", false: " by returning"}[a == 1]
	case glass.Emulates:
		s = t.emulates(s, a, b)
	case glass.Faulted:
		s = fmt.Sprintf("%s: exception %d", s, a)
	case glass.Nested:
		s = fmt.Sprintf("%s, at %s", s, t.where(a))
	case glass.Watched:
		s = fmt.Sprintf("%s, DR6 %#x", s, a)
	case glass.Accessed:
		s = t.accessed(f)
	case glass.GoesOn:
		if a != 0 {
			s = "RF set: the instruction runs now"
		}
	case glass.Abandoned:
		why, _, _ := bytes.Cut(f.Why[:], []byte{0})
		s = fmt.Sprintf("%s abandoned: %s", t.role(f), why)
	}
	return s
}

// hows are how a hit is handled, in words.
var hows = [...]string{glass.InKernel: "#BP trap", glass.InTrap: "#BP from ring 3, handled at once", glass.InGoroutine: "#BP from ring 3, in its goroutine"}

func (t *Take) emulates(s string, reads, pushes uint64) string {
	if reads != 0 {
		s += fmt.Sprintf(", reads at %#x", reads)
	}
	if pushes != 0 {
		s += fmt.Sprintf(", pushes %s", t.where(pushes))
	}
	return s
}

// accessed says how the watched value has changed, and which instruction did that.
func (t *Take) accessed(f *glass.Frame) string {
	s := fmt.Sprintf("%#x -> %#x", f.Note[0], f.Note[1])
	if f.Note[0] == f.Note[1] {
		s = fmt.Sprintf("%#x, as before", f.Note[1])
	}
	return s + ", by " + t.whereLine(t.Accessor(uint64(f.Probe)))
}

// roles are the roles of handlers in words.
var roles = [...]string{glass.Pre: "pre-handler", glass.Post: "post-handler", glass.Entry: "entry handler", glass.Return: "return handler",
	glass.Watch: "watch handler"}

// role names the handler that f is about.
func (t *Take) role(f *glass.Frame) string {
	role := f.Note[0]
	if f.Stage == glass.Returned {
		role = f.Note[1]
	}
	if program := t.program(f); program != "" {
		return "event program " + program
	}
	s := roles[role%uint64(len(roles))]
	if name, _, ok := t.Symbol(uint64(f.Handler)); ok && f.Handler != 0 {
		s += " " + kallsyms.Base(name)
	}
	return s
}

// program is the name of the eBPF program that is f's handler, "" if it is none.
func (t *Take) program(f *glass.Frame) string {
	name, _, _ := t.Symbol(uint64(f.Handler))
	program, made := strings.CutSuffix(name, " [bpf]")
	if f.Handler == 0 || !made {
		return ""
	}
	return program
}

// changed says what is not as it was in the frame before.
func (t *Take) changed(f, last *glass.Frame) string {
	var changed []string
	if last != nil {
		for _, n := range regOrder {
			if f.Regs[n] != last.Regs[n] && (n != glass.IP || last.Stage != glass.Jumped) {
				changed = append(changed, regNames[n])
			}
		}
		if f.Stack != last.Stack && f.Regs[sp] == last.Regs[sp] {
			changed = append(changed, "the stack")
		}
		if f.Text != last.Text {
			changed = append(changed, "the code")
		}
	}
	if changed == nil {
		return "changed nothing here"
	}
	return "changed " + strings.Join(changed, ", ")
}

// tier says how the hit came, and how the instruction was executed.
func tier(frames []glass.Frame) string {
	came, ways := "", ""
	returns := ""
	for i := range frames {
		switch frames[i].Stage {
		case glass.Trapped:
			came = "INT3"
			if frames[i].Note[0] != glass.InKernel {
				came = "INT3 in a program"
			}
		case glass.Jumped:
			came = "JUMP"
		case glass.Watched:
			came = fmt.Sprintf("debug register %d", frames[i].Note[1])
		case glass.ToStep:
			ways = " with single step"
		case glass.ToSlot:
			ways = ", boosted"
		case glass.Emulated:
			ways = ", emulated"
		case glass.Branched:
			ways = ", branched"
		case glass.Decided:
			ways = ", stack check decided"
		case glass.TookOver:
			ways = ", a handler takes over"
		case glass.ToDetour:
			if came != "JUMP" {
				ways = ", in the detour's copy"
			}
		case glass.Calls:
			ways = ", a system call"
		case glass.Replaced, glass.Awaited, glass.Exited:
			returns = ", return probe"
		case glass.Copied:
			returns += ", jprobe"
		}
	}
	return came + ways + returns
}
