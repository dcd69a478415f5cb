// Package strace prints what programs do, like strace(1) on Linux: a line for each system
// call, each signal and each end of a thread. It is an engine of package proc.
package strace

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// resultColumn is where results begin, as by strace without -a.
const resultColumn = 40

// Options are those of strace.
type Options struct {
	Follow bool // -f: also what the program makes
	Count  bool // -c: only a table at the end
	Took   bool // -T: how long calls take, in seconds
	Paths  bool // -y: which files descriptors are of
	// Symbols names addresses of programs: calls are followed by the stacks that led to them (-k); nil: they are not.
	Symbols Symbols
	// Stamp is when a line begins, as -t and -r print it; nil: lines do not say.
	Stamp func(now time.Time) string
	// Wanted says which calls are shown and counted, by name (-e trace=): all where it is nil.
	Wanted func(call string) bool
}

// Tracer prints what processes do.
type Tracer struct {
	Options
	out    io.Writer
	engine proc.Engine

	mu sync.Mutex
	// guarded by mu:
	live   int // threads that are traced: of several, lines say whose they are
	calls  map[*proc.Thread]*call
	open   *proc.Thread // whose line is not complete
	column int          // where that line ends
	procs  []*proc.Process
	counts map[string]*count
}

// call is a system call that a thread is in.
type call struct {
	shown *Shown
	began time.Time
}

// New makes a tracer that writes to out.
func New(out io.Writer, o Options) *Tracer {
	t := &Tracer{Options: o, out: out, calls: map[*proc.Thread]*call{}, counts: map[string]*count{}}
	t.engine = proc.Engine{Clone: t.clone, Enter: t.enter, Leave: t.leave, Signal: t.signal, Exit: t.exit}
	return t
}

// Attach begins to trace a process: its first thread, or with Follow all.
func (t *Tracer) Attach(p *proc.Process) {
	threads := 1
	if t.Follow {
		threads = len(p.Facts().Threads)
	}
	t.add(p, threads)
	p.Attach(&t.engine)
}

func (t *Tracer) add(p *proc.Process, threads int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.procs = append(t.procs, p)
	t.live += threads
}

// Began is Attach to a process that is about to begin its program, and the line of the
// call that would have brought it there. variables is the size of its environment.
func (t *Tracer) Began(p *proc.Process, variables int) {
	t.Attach(p)
	args := strings.Split(strings.TrimSuffix(p.CommandLine(), "\x00"), "\x00")
	text := Execve(p.Path(), args, p.Facts().Layout.EnvStart, variables)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.shows("execve"):
	case t.Count:
		t.counts["execve"] = &count{name: "execve", calls: 1}
	default:
		text = t.stamp() + text
		t.line(text + strings.Repeat(" ", max(resultColumn-len(text), 1)) + "= 0")
	}
}

// shows reports whether calls of that name are shown.
func (t *Tracer) shows(call string) bool { return t.Wanted == nil || t.Wanted(call) }

// takeAll returns what is traced, which is nothing any more.
func (t *Tracer) takeAll() []*proc.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.procs
	t.procs = nil
	return all
}

// Detach ends tracing; calls in progress are not printed any more.
func (t *Tracer) Detach() {
	for _, p := range t.takeAll() {
		p.Detach(&t.engine)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != nil && !t.Count {
		fmt.Fprintln(t.out, " <detached ...>")
		t.open = nil
	}
}

// wants reports whether th is traced.
func (t *Tracer) wants(th *proc.Thread) bool { return t.Follow || th.TID == th.Process().PID }

func (t *Tracer) clone(th, child *proc.Thread, flags uint64) {
	if !t.Follow {
		return
	}
	if flags&abi.CLONE_THREAD == 0 {
		t.Attach(child.Process())
	} else {
		t.join()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Count {
		t.line(fmt.Sprintf("strace: Process %d attached", child.TID))
	}
}

// join counts a thread of a process that is traced.
func (t *Tracer) join() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live++
}

func (t *Tracer) enter(th *proc.Thread) {
	shown, text := Show(th, t.Paths)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.wants(th) || !t.shows(shown.Call.Name) {
		return
	}
	c := &call{shown: shown, began: time.Now()}
	t.calls[th] = c
	if !t.Count {
		t.breakOff()
		t.start(th, text)
	}
}

func (t *Tracer) callOf(th *proc.Thread) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[th]
}

func (t *Tracer) leave(th *proc.Thread) {
	c := t.callOf(th)
	if c == nil {
		return
	}
	took := time.Since(c.began)
	rest := c.shown.Arguments() // looks at the program's memory, which may take time
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.calls, th)
	t.count(c, took)
	if !t.Count {
		result := c.shown.Result()
		if t.Took {
			result += fmt.Sprintf(" <%.6f>", took.Seconds())
		}
		t.finish(th, c, rest, result)
		t.stack(th)
	}
}

func (t *Tracer) signal(th *proc.Thread, info abi.Siginfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wants(th) && !t.Count {
		t.breakOff()
		t.line(t.who(th) + "--- SIG" + abi.SignalName(int(info.Signo)) + " " + siginfo(info) + " ---")
	}
	return false
}

func (t *Tracer) exit(th *proc.Thread, s proc.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.wants(th) {
		return
	}
	defer func() { t.live-- }()
	c := t.calls[th]
	delete(t.calls, th)
	if c != nil {
		t.count(c, time.Since(c.began))
	}
	if t.Count {
		return
	}
	if c != nil {
		t.finish(th, c, ")", "?")
	}
	end := fmt.Sprintf("exited with %d", s.Code())
	if sig := s.Signal(); sig != 0 {
		end = "killed by SIG" + abi.SignalName(sig)
	}
	if s.Dumped() {
		end += " (core dumped)"
	}
	t.breakOff()
	t.line(t.who(th) + "+++ " + end + " +++")
}

// who begins a line. mu held.
func (t *Tracer) who(th *proc.Thread) string {
	if t.live < 2 {
		return t.stamp()
	}
	return fmt.Sprintf("[pid %5d] ", th.TID) + t.stamp()
}

// stamp is when a line begins. mu held.
func (t *Tracer) stamp() string {
	if t.Stamp == nil {
		return ""
	}
	return t.Stamp(time.Now()) + " "
}

// Since returns the Stamp of -r: how long after the line before a line begins, in seconds.
func Since() func(time.Time) string {
	var last time.Time
	return func(now time.Time) string {
		if last.IsZero() {
			last = now
		}
		text := fmt.Sprintf("%6d.%06d", now.Sub(last)/time.Second, now.Sub(last)%time.Second/time.Microsecond)
		last = now
		return text
	}
}

// start writes a line that finish ends. mu held.
func (t *Tracer) start(th *proc.Thread, text string) {
	text = t.who(th) + text
	io.WriteString(t.out, text)
	t.open, t.column = th, len(text)
}

// breakOff ends a line whose call continues while there is something else to say. mu
// held.
func (t *Tracer) breakOff() {
	if t.open == nil {
		return
	}
	io.WriteString(t.out, " <unfinished ...>\n")
	t.open = nil
}

// finish completes the line of a call. mu held.
func (t *Tracer) finish(th *proc.Thread, c *call, rest, result string) {
	if t.open != th {
		t.breakOff()
		t.start(th, "<... "+c.shown.Call.Name+" resumed>")
	}
	pad := max(resultColumn-t.column-len(rest), 1)
	io.WriteString(t.out, rest+strings.Repeat(" ", pad)+"= "+result+"\n")
	t.open = nil
}

// line writes a line of its own. mu held.
func (t *Tracer) line(text string) {
	t.breakOff()
	io.WriteString(t.out, text+"\n")
}
