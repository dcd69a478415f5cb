package perf

import (
	"math"
	"syscall"
	"time"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/probe/program"
)

// A source is what an event counts.
type source struct {
	sites   []attach.Site // whose hits count; none: see count
	clock   bool          // sites are ticks, that often: see hz
	whole   bool          // a program runs at each hit, whatever the event counts
	takes   bpf.Type      // the type of the program
	count   func(e *Event) uint64
	through program.Through // makes the record that a program gets; nil: it gets the registers
}

// Faults and Switches are the functions of the kernel that serve a page fault of a program, and that have a
// thread wait. Written at boot.
var Faults, Switches string

// A Request is what perf_event_open was given, with its pointers and numbers resolved.
type Request struct {
	Attr   Attr
	Name   string       // what Config1 points to: of a kprobe or uprobe
	CPU    int          // -1: all
	Thread *proc.Thread // nil: all
	Group  *Event
}

// sourceOf finds what an event counts.
//
// Errors: ENOENT there is no such thing here; EINVAL it is not described rightly.
func sourceOf(r *Request) (source, error) {
	switch a := &r.Attr; a.Type {
	case software:
		return softwareOf(r)
	case tracepoint:
		t, err := event.Numbered(a.Config)
		return source{sites: t.Sites, whole: true, takes: bpf.Tracepoint, through: t.Through}, err
	case breakpoint:
		return breakpointOf(r)
	case kprobe, uprobe:
		return probeOf(r)
	}
	return source{}, refusal.New(syscall.ENOENT, "events of type %d: there are software, tracepoint, breakpoint, kprobe and uprobe", r.Attr.Type)
}

// softwareOf counts time, or what the kernel does.
func softwareOf(r *Request) (s source, err error) {
	s.takes = bpf.PerfEvent
	switch a := &r.Attr; a.Config {
	case cpuClock, taskClock:
		s.count = passed
		if a.Config == taskClock && r.Thread != nil {
			s.count = used
		}
		if a.Period != 0 {
			s.clock, s.sites = true, []attach.Site{{Kind: attach.Tick, Hz: hz(a)}}
		}
	case pageFaults, minorFaults:
		s.sites, err = function(Faults, "page faults")
	case contextSwitches:
		s.sites, err = function(Switches, "context switches")
	case dummy, bpfOutput:
	default:
		err = refusal.New(syscall.ENOENT, "software event %d is not counted here", a.Config)
	}
	return s, err
}

func function(name, what string) ([]attach.Site, error) {
	if name == "" {
		return nil, refusal.New(syscall.ENOENT, "%s are not counted here", what)
	}
	return []attach.Site{{Kind: attach.Kernel, Symbol: name}}, nil
}

// passed is the time since boot, used that of a thread.
func passed(*Event) uint64 { return uint64(now()) }

func used(e *Event) uint64 {
	if e.follower != nil {
		return uint64(e.follower.used())
	}
	return uint64(spent(e.thread))
}

// leastPeriod is the shortest period of a clock, as in Linux.
const leastPeriod = 10_000

// hz is how often a clock ticks for its samples: at most once a second.
func hz(a *Attr) int {
	if a.has(flagFreq) {
		return int(a.Period)
	}
	return int(max(1, uint64(time.Second)/max(a.Period, leastPeriod)))
}

// period is how many hits are between two samples of an event: of a clock, ticks.
func (s *source) period(a *Attr) uint64 {
	switch {
	case !s.clock && a.has(flagFreq):
		return min(a.Period, 1) // each hit is rarer than that
	case !s.clock:
		return a.Period
	case a.has(flagFreq):
		return 1
	}
	return max(1, (a.Period+uint64(time.Second)/2)/uint64(time.Second))
}

// Kinds of breakpoints.
const (
	breakRead    = 1
	breakWrite   = 2
	breakExecute = 4
)

// breakpointOf watches data, or an instruction.
func breakpointOf(r *Request) (source, error) {
	a := &r.Attr
	s := attach.Site{Kind: attach.Watch, Addr: a.Config1, Length: int(min(a.Config2, math.MaxInt32))}
	switch {
	case a.Config2 == 0:
		return source{}, refusal.New(syscall.EINVAL, "a breakpoint on no bytes: give 1, 2, 4 or 8")
	case !inProgram(s.Addr, a.Config2) && a.has(flagExcludeKernel):
		return source{}, refusal.New(syscall.EINVAL, "a breakpoint at %#x, in the kernel, which exclude_kernel leaves out", s.Addr)
	}
	switch a.BreakType {
	case breakWrite:
		s.Access = attach.Write
	case breakRead | breakWrite:
		s.Access = attach.ReadWrite
	case breakExecute:
		if a.Config2 != 8 {
			return source{}, refusal.New(syscall.EINVAL, "a breakpoint on an instruction of %d bytes: give 8, as in Linux", a.Config2)
		}
		s.Access, s.Length = attach.Execute, 1
	default:
		return source{}, refusal.New(syscall.EINVAL, "a breakpoint of type %d: give 2 (w), 3 (rw) or 4 (x)", a.BreakType)
	}
	if r.Thread != nil && inProgram(s.Addr, a.Config2) {
		s.PID, s.Later = r.Thread.Process().PID, true
	}
	return source{sites: []attach.Site{s}, takes: bpf.PerfEvent}, nil
}

// inProgram reports whether n bytes at addr can be a program's, mapped or not. All others are the kernel's.
func inProgram(addr, n uint64) bool {
	const end = 1<<47 - 4096
	return n <= end && addr <= end-n
}

// returnBit is the bit of Config that asks for returns: format/retprobe says so.
const returnBit = 1 << 0

// probeOf probes a function of the kernel, or an instruction of a program's file.
func probeOf(r *Request) (source, error) {
	a := &r.Attr
	s := attach.Site{Kind: attach.Kernel, Return: a.Config&returnBit != 0}
	switch {
	case a.Type == uprobe && r.Name == "":
		return source{}, refusal.New(syscall.EINVAL, "a uprobe without a file")
	case a.Type == uprobe:
		s.Kind, s.File, s.Offset = attach.Program, r.Name, a.Config2
		if r.Thread != nil && !a.has(flagInherit) {
			s.PID = r.Thread.Process().PID
		}
	case r.Name == "":
		s.Addr = a.Config2
	default:
		s.Symbol, s.Offset = r.Name, a.Config2
		if s.Pattern() {
			return source{}, refusal.New(syscall.ENOENT, "there is no function %s", r.Name)
		}
	}
	return source{sites: []attach.Site{s}, whole: true, takes: bpf.Kprobe}, nil
}
