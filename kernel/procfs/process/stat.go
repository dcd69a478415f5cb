package process

import (
	"fmt"
	"strings"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/mm/space"
	"sonde/kernel/proc"
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

// stat is one line of 52 fields.
//
// Source: Linux, proc_pid_stat(5).
func stat(p *proc.Process) string {
	f, u := p.Facts(), memoryOf(p)
	user, system := f.Used.Ticks()
	childUser, childSystem := f.Reaped.Ticks()
	limit, _ := p.Limit(abi.RLIMIT_RSS)
	var b strings.Builder
	fmt.Fprintf(&b, "%d (%s) %s %d %d %d 0 -1 0", p.PID, f.Name, p.State(), f.Parent, f.Group, f.Session)
	fmt.Fprintf(&b, " %d %d 0 0 %d %d %d %d", f.Used.Faults, f.Reaped.Faults, user, system, childUser, childSystem)
	fmt.Fprintf(&b, " 20 0 %d 0 %d %d %d %d", len(f.Threads), began(p), u.Total, u.Resident/space.PageSize, limit.Cur)
	l := f.Layout
	fmt.Fprintf(&b, " %d %d %d 0 0", l.CodeStart, l.CodeEnd, l.StackStart)
	fmt.Fprintf(&b, " %d %d %d %d", f.Pending|f.ThreadPending, f.Blocked, f.Ignored, f.Handled)
	fmt.Fprintf(&b, " 0 0 0 %d 0 0 0 0 0 0", f.ExitSignal)
	fmt.Fprintf(&b, " 0 0 0 %d %d %d %d %d\n", l.ArgStart, l.ArgEnd, l.EnvStart, l.EnvEnd, f.Status)
	return b.String()
}

// statm is sizes in pages.
//
// Source: Linux, proc_pid_statm(5).
func statm(p *proc.Process) string {
	u := memoryOf(p)
	const page = space.PageSize
	return fmt.Sprintf("%d %d 0 %d 0 %d 0\n", u.Total/page, u.Resident/page, u.Exec/page, (u.Data+u.Stack)/page)
}

// stateNames are what status says behind the letter.
var stateNames = map[string]string{"R": "running", "S": "sleeping", "T": "stopped", "Z": "zombie"}

// status is lines of a name and a value.
//
// Source: Linux, proc_pid_status(5).
func status(p *proc.Process) string {
	f, state := p.Facts(), p.State()
	var b strings.Builder
	line := func(name, format string, args ...any) { fmt.Fprintf(&b, name+":\t"+format+"\n", args...) }
	line("Name", "%s", f.Name)
	line("State", "%s (%s)", state, stateNames[state])
	line("Tgid", "%d", p.PID)
	line("Pid", "%d", p.PID)
	line("PPid", "%d", f.Parent)
	line("Uid", "0\t0\t0\t0")
	line("Gid", "0\t0\t0\t0")
	if p.Memory() != nil {
		u := memoryOf(p)
		for _, m := range []struct {
			name  string
			bytes uint64
		}{{"VmPeak", u.Peak}, {"VmSize", u.Total}, {"VmRSS", u.Resident}, {"VmData", u.Data}, {"VmStk", u.Stack}, {"VmExe", u.Exec}, {"VmPTE", u.Tables}} {
			line(m.name, "%8d kB", m.bytes>>10)
		}
	}
	line("Threads", "%d", len(f.Threads))
	line("SigPnd", "%016x", uint64(f.ThreadPending))
	line("ShdPnd", "%016x", uint64(f.Pending))
	line("SigBlk", "%016x", uint64(f.Blocked))
	line("SigIgn", "%016x", uint64(f.Ignored))
	line("SigCgt", "%016x", uint64(f.Handled))
	return b.String()
}
