package process

import (
	"fmt"
	"strings"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/signal"
	"sonde/linux/space"
)

// memoryOf is what the process takes; nothing once it has ended.
func memoryOf(p *proc.Process) space.Usage {
	if m := p.Memory(); m != nil {
		return m.Usage()
	}
	return space.Usage{}
}

// began returns when the process was made, in ticks since boot.
func began(p *proc.Process) int64 {
	clock := p.Table().Clock
	if clock == nil {
		return 0
	}
	return int64((clock() - time.Since(p.Began())) / (time.Second / abi.TicksPerSecond))
}

// subject is whom stat and status are about: a process, or one of its threads.
type subject struct {
	id, nice         int
	state            string
	used             proc.Usage
	pending, blocked signal.Set
}

func whole(p *proc.Process) func() subject {
	return func() subject {
		f := p.Facts()
		return subject{p.PID, f.Nice, p.State(), f.Used, f.ThreadPending, f.Blocked}
	}
}

// thread is about one that may have ended meanwhile.
func thread(p *proc.Process, tid int) func() subject {
	return func() subject {
		f, ok := p.ThreadFacts(tid)
		if !ok {
			f.State = "X"
		}
		return subject{tid, f.Nice, f.State, f.Used, f.Pending, f.Blocked}
	}
}

// stat is one line of 52 fields.
//
// Source: Linux, proc_pid_stat(5).
func stat(p *proc.Process, who subject) string {
	f, u := p.Facts(), memoryOf(p)
	user, system := who.used.Ticks()
	childUser, childSystem := f.Reaped.Ticks()
	limit, _ := p.Limit(abi.RLIMIT_RSS)
	var b strings.Builder
	tty, front := terminalOf(p)
	fmt.Fprintf(&b, "%d (%s) %s %d %d %d %d %d 0", who.id, f.Name, who.state, f.Parent, f.Group, f.Session, tty, front)
	fmt.Fprintf(&b, " %d %d 0 0 %d %d %d %d", who.used.Faults, f.Reaped.Faults, user, system, childUser, childSystem)
	fmt.Fprintf(&b, " %d %d %d 0 %d %d %d %d", 20+who.nice, who.nice, len(f.Threads), began(p), u.Total, u.Resident/space.PageSize, limit.Cur)
	l := f.Layout
	fmt.Fprintf(&b, " %d %d %d 0 0", l.CodeStart, l.CodeEnd, l.StackStart)
	fmt.Fprintf(&b, " %d %d %d %d", f.Pending|who.pending, who.blocked, f.Ignored, f.Handled)
	fmt.Fprintf(&b, " 0 0 0 %d 0 0 0 0 0 0", f.ExitSignal)
	fmt.Fprintf(&b, " 0 0 0 %d %d %d %d %d\n", l.ArgStart, l.ArgEnd, l.EnvStart, l.EnvEnd, f.Status)
	return b.String()
}

// terminalOf returns the number of p's terminal, and the group in its foreground; 0 and -1
// where p has none.
func terminalOf(p *proc.Process) (number, front int) {
	if t, ok := p.Terminal().(interface {
		Number() int
		Foreground() int
	}); ok {
		return t.Number(), t.Foreground()
	}
	return 0, -1
}

// statm is sizes in pages.
//
// Source: Linux, proc_pid_statm(5).
func statm(p *proc.Process) string {
	u := memoryOf(p)
	const page = space.PageSize
	return fmt.Sprintf("%d %d 0 %d 0 %d 0\n", u.Total/page, u.Resident/page, u.Exec/page, (u.Data+u.Stack)/page)
}

// stateNames are what status says after the letter.
var stateNames = map[string]string{"R": "running", "S": "sleeping", "D": "disk sleep", "T": "stopped", "Z": "zombie", "X": "dead"}

// status is lines of a name and a value.
//
// Source: Linux, proc_pid_status(5).
func status(p *proc.Process, who subject) string {
	f := p.Facts()
	var b strings.Builder
	line := func(name, format string, args ...any) { fmt.Fprintf(&b, name+":\t"+format+"\n", args...) }
	line("Name", "%s", f.Name)
	line("State", "%s (%s)", who.state, stateNames[who.state])
	line("Tgid", "%d", p.PID)
	line("Pid", "%d", who.id)
	line("PPid", "%d", f.Parent)
	line("Uid", "0\t0\t0\t0")
	line("Gid", "0\t0\t0\t0")
	if p.Memory() != nil {
		u := memoryOf(p)
		for _, m := range []struct {
			name  string
			bytes uint64
		}{{"VmPeak", u.Peak}, {"VmSize", u.Total}, {"VmLck", u.Locked}, {"VmRSS", u.Resident}, {"VmData", u.Data}, {"VmStk", u.Stack}, {"VmExe", u.Exec}, {"VmPTE", u.Tables}} {
			line(m.name, "%8d kB", m.bytes>>10)
		}
	}
	line("Threads", "%d", len(f.Threads))
	line("SigPnd", "%016x", uint64(who.pending))
	line("ShdPnd", "%016x", uint64(f.Pending))
	line("SigBlk", "%016x", uint64(who.blocked))
	line("SigIgn", "%016x", uint64(f.Ignored))
	line("SigCgt", "%016x", uint64(f.Handled))
	return b.String()
}
