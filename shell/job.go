package shell

import (
	"maps"
	"slices"
	"sync"

	"sonde/kernel/abi"
	"sonde/kernel/tty"
)

// job is a line that runs concurrently with the shell: the programs of a pipeline, which are one
// process group, and the shell's own commands, which are goroutines.
type job struct {
	text    string
	machine Programs      // nil: without programs
	quit    chan struct{} // closed to end the shell's own commands

	number  int // in the table of jobs, 0 while it is not there
	touched int // increases when it stops or goes into the background

	// written before it begins:
	main   *member // the statement, whose status is the job's
	within *job    // the job in the background whose shell has begun it; nil: the user's shell
	root   *job    // the one that the user's shell has begun; itself, if it is that

	start sync.Mutex // one program at a time joins

	mu sync.Mutex
	// guarded by mu:
	members []*member
	below   map[*job]bool // of a root: the jobs that have been begun within it, and run
	begun   int           // programs that have begun, or could not
	held    bool          // the shell's own commands have stopped: what they print waits
	inner   *job          // the job that fg has in the foreground
	group   int           // of its programs; 0 before the first
	changed chan struct{} // closed at the next change; nil: nothing waits
	front   *tty.TTY      // the terminal for its first program; nil: none
	modes   *tty.Termios  // its modes in the shell; nil: the shell has it
	quitBy  int           // the signal that ended the shell's own commands
	told    jobState      // the state that the user has been told
}

// member is a part of a job: a program, or one of the shell's own commands.
type member struct {
	name    string
	stage   int           // its place in a pipeline
	done    chan struct{} // closed at the end
	program Program       // nil: one of the shell's own commands
	// guarded by job.mu:
	ended, stopped bool
	status         int // as in sh: 128 plus the number for a signal
	signal         int
}

// jobState is the state of a job.
type jobState int

const (
	running jobState = iota
	stopped
	ended
)

func (s *Shell) newJob(text string) *job {
	return &job{text: text, machine: s.Machine.Programs, quit: make(chan struct{})}
}

// add adds a member that starts now.
func (j *job) add(name string, stage int) *member {
	m := &member{name: name, stage: stage, done: make(chan struct{})}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.members = append(j.members, m)
	return m
}

// update changes the job, and wakes its waiters.
func (j *job) update(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f()
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// finish records the end of a member.
func (j *job) finish(m *member, status, signal int) {
	j.update(func() { m.ended, m.stopped, m.status, m.signal = true, false, status, signal })
	close(m.done)
	if signal == abi.SIGINT { // ^C ends all of them
		j.endOwn(signal)
	}
}

// hold stops the shell's own commands: they wait as soon as they print.
func (j *job) hold() { j.update(func() { j.held = true }) }

// suspend is ^Z that came to the shell: also for a program that does not have the terminal yet.
func (j *job) suspend() {
	j.hold()
	for _, p := range j.programs() {
		p.Send(abi.SIGTSTP)
	}
}

// innermost is the job that ^Z means: fg shows another one.
func (j *job) innermost() *job {
	j.mu.Lock()
	inner := j.inner
	j.mu.Unlock()
	if inner == nil {
		return j
	}
	return inner.innermost()
}

// awaitPrograms waits until n programs have begun, or could not, or the job is over.
func (j *job) awaitPrograms(n int) {
	for now, changed := j.look(); now == running; now, changed = j.look() {
		j.mu.Lock()
		all := j.begun >= n
		j.mu.Unlock()
		if all {
			return
		}
		<-changed
	}
}

// look returns the state of the job, and a channel that is closed when it may have changed. A job
// has stopped when one of its programs has, or all of its own commands have, and no program runs.
func (j *job) look() (jobState, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.state(), j.changed
}

// state is look with mu held.
func (j *job) state() jobState {
	anyStopped, anyRuns, anyOwn := false, false, false
	for _, m := range j.members {
		switch {
		case m.ended:
		case m.stopped:
			anyStopped = true
		case m.program != nil:
			anyRuns = true
		default:
			anyOwn = true
		}
	}
	switch {
	case anyRuns, anyOwn && !anyStopped && !j.held:
		return running
	case anyStopped, anyOwn:
		return stopped
	}
	return ended
}

// outcome is the status of the job, and the signal that has ended or stopped it.
func (j *job) outcome() (status, signal int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := j.main
	if j.state() == stopped {
		for _, p := range j.members {
			if p.stopped {
				return p.status, p.signal
			}
		}
		return 128 + abi.SIGTSTP, abi.SIGTSTP
	}
	if j.quitBy != 0 && m.status != statusOK {
		return 128 + j.quitBy, j.quitBy
	}
	return m.status, m.signal
}

// programs returns the processes that have not ended.
func (j *job) programs() (all []Program) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range j.members {
		if m.program != nil && !m.ended {
			all = append(all, m.program)
		}
	}
	return all
}

// pid is the value of $!: the number of the program at the end of the pipeline. 0: there is none.
func (j *job) pid() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	var last *member
	for _, m := range j.members {
		if m.program != nil && (last == nil || m.stage >= last.stage) {
			last = m
		}
	}
	if last == nil {
		return 0
	}
	return last.program.PID()
}

// has reports whether the process is or was part of the job.
func (j *job) has(pid int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.members, func(m *member) bool { return m.program != nil && m.program.PID() == pid })
}

// begins notes that a job within this one begins or ends.
func (j *job) begins(below *job, yes bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case !yes:
		delete(j.below, below)
	case j.below == nil:
		j.below = map[*job]bool{below: true}
	default:
		j.below[below] = true
	}
}

// send sends a signal to all programs of the job, and of those within it. One that ends programs also
// ends the shell's own commands.
func (j *job) send(signal int) {
	j.mu.Lock()
	below := slices.Collect(maps.Keys(j.below))
	j.mu.Unlock()
	for _, b := range below {
		b.send(signal)
	}
	var groups []int
	for _, p := range j.programs() {
		if g := p.Group(); g != 0 && !slices.Contains(groups, g) {
			groups = append(groups, g)
			j.machine.SendGroup(g, signal)
		}
	}
	switch signal {
	case abi.SIGHUP, abi.SIGINT, abi.SIGKILL, abi.SIGTERM:
		j.endOwn(signal)
	}
}

// sendPart sends a signal to the programs of one part of a pipeline.
func (j *job) sendPart(stage, signal int) {
	var all []Program
	j.mu.Lock()
	for _, m := range j.members {
		if m.stage == stage && m.program != nil && !m.ended {
			all = append(all, m.program)
		}
	}
	j.mu.Unlock()
	for _, p := range all {
		p.Send(signal)
	}
}

// endOwn ends the shell's own commands, as ^C does.
func (j *job) endOwn(signal int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.quitBy == 0 {
		j.quitBy = signal
		close(j.quit)
	}
}

// goOn continues a stopped job.
func (j *job) goOn() {
	j.update(func() {
		for _, m := range j.members {
			m.stopped = false
		}
		j.held = false
		j.told = running
	})
	j.send(abi.SIGCONT)
}

// watch follows a program until it ends.
//
// Context: a goroutine of its own.
func (j *job) watch(m *member) {
	for {
		c, err := m.program.Wait()
		switch {
		case err != nil:
			j.finish(m, statusNotFound, 0)
			return
		case c.State == ProgramStopped:
			j.update(func() { m.stopped, m.signal, m.status = true, c.Signal, 128+c.Signal })
		case c.State == ProgramRuns:
			j.update(func() { m.stopped = false })
		case c.Signal != 0:
			j.finish(m, 128+c.Signal, c.Signal)
			return
		default:
			j.finish(m, c.Status, 0)
			return
		}
	}
}
