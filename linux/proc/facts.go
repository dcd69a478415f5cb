package proc

import (
	"strings"

	"sonde/kernel/abi"
	"sonde/linux/signal"
	"sonde/linux/space"
)

// Facts are what /proc shows about a process, all at one moment.
type Facts struct {
	Name, Exe              string
	Layout                 space.Layout
	Parent, Group, Session int
	Threads                []int // their numbers, the first one's first
	ExitSignal             int
	Nice                   int // of its first thread
	Used, Reaped           Usage
	Status                 Status // once it has ended

	Pending, ThreadPending    signal.Set // of the process, of its first thread
	Blocked, Ignored, Handled signal.Set // Blocked is the first thread's
}

// ThreadFacts are what /proc shows about one thread.
type ThreadFacts struct {
	Nice             int
	State            string // as Process.State
	Used             Usage
	Pending, Blocked signal.Set
}

// Waiting is where a thread sleeps.
type Waiting struct {
	InCall bool   // in a system call; false: it has stopped, or is where it executes a program
	Call   uint64 // its number
	Args   [6]uint64
	SP, IP uint64 // in the program
}

// Waiting returns where a thread sleeps; false: it runs, or there is none.
func (p *Process) Waiting(tid int) (w Waiting, ok bool) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t := p.table.threads[tid]
	if t == nil || t.process != p || t.letter() == "R" {
		return w, false
	}
	r := t.regs // which only t changes, when it does not sleep any more
	w = Waiting{p.stopped == 0, t.call, [6]uint64{r.DI, r.SI, r.DX, r.R10, r.R8, r.R9}, r.SP, r.IP}
	return w, t.sleeping.Load()
}

// ThreadFacts returns the facts of a thread; ok is false if it does not exist.
func (p *Process) ThreadFacts(tid int) (f ThreadFacts, ok bool) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t := p.table.threads[tid]
	if t == nil || t.process != p {
		return f, false
	}
	f = ThreadFacts{Nice: t.Nice(), Used: t.Usage(), Pending: t.pending.Set(), Blocked: t.blocked}
	if f.State = t.letter(); p.stopped != 0 {
		f.State = "T"
	}
	return f, true
}

// Facts returns the facts of p.
func (p *Process) Facts() Facts {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	f := Facts{
		Name: p.Name(), Exe: p.exe, Layout: p.layout, ExitSignal: p.exitSignal,
		Used: p.used(), Reaped: p.reaped, Status: p.status, Pending: p.pending.Set(),
	}
	if p.parent != nil {
		f.Parent = p.parent.PID
	}
	if p.group != nil {
		f.Group, f.Session = p.group.ID, p.group.session.ID
	}
	for _, t := range p.threads {
		f.Threads = append(f.Threads, t.TID)
	}
	if len(p.threads) > 0 {
		f.Nice = p.threads[0].Nice()
		f.ThreadPending, f.Blocked = p.threads[0].pending.Set(), p.threads[0].blocked
	}
	for n := 1; n <= abi.SIGMAX; n++ {
		switch p.actions.Actions[n].Handler {
		case abi.SIG_DFL:
		case abi.SIG_IGN:
			f.Ignored |= signal.Of(n)
		default:
			f.Handled |= signal.Of(n)
		}
	}
	return f
}

// mostStrings bounds what is copied of what a program may have spread out.
const mostStrings = 4 << 20

// CommandLine returns the arguments with a zero byte after each, as they are in the program's memory
// now. If the last of these bytes is no zero, the program has written another text, which may continue in the
// environment: it ends at its first zero. A process that has ended has none.
//
// Source: Linux, proc_pid_cmdline(5).
func (p *Process) CommandLine() string {
	l := p.Facts().Layout
	if args := p.textAt(l.ArgStart, l.ArgEnd); args == "" || args[len(args)-1] == 0 {
		return args
	}
	text, _, _ := strings.Cut(p.textAt(l.ArgStart, l.EnvEnd), "\x00")
	return text
}

// Environment returns the variables where the program found them at its start.
func (p *Process) Environment() string {
	l := p.Facts().Layout
	return p.textAt(l.EnvStart, l.EnvEnd)
}

// textAt returns what is in the memory from start to end; if not all is there, its beginning.
func (p *Process) textAt(start, end uint64) string {
	m := p.Memory()
	if m == nil || end <= start {
		return ""
	}
	b := make([]byte, min(end-start, mostStrings))
	n, _ := m.CopyIn(b, start)
	return string(b[:n])
}
