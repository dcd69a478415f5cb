package shell

import (
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

	start sync.Mutex // one program at a time joins

	mu sync.Mutex
	// guarded by mu:
	members []*member
	group   int           // of its programs; 0 before the first
	changed chan struct{} // closed at the next change; nil: nobody waits
	front   *tty.TTY      // the terminal for its first program; nil: none
	modes   *tty.Termios  // its modes in the shell; nil: the shell has it
	quitBy  int           // the signal that ended the shell's own commands
	told    state         // the state that the user has been told
}

// member is a part of a job: a program, or one of the shell's own commands.
type member struct {
	name    string
	done    chan struct{} // closed at the end
	program Program       // nil: one of the shell's own commands
	// guarded by job.mu:
	ended, stopped bool
	status         int // as in sh: 128 plus the number for a signal
	signal         int
}

// state is the state of a job.
type state int

const (
	running state = iota
	stopped
	ended
)

func (s *Shell) newJob(text string) *job {
	return &job{text: text, machine: s.Machine.Programs, quit: make(chan struct{})}
}

// add adds a member that starts now.
func (j *job) add(name string) *member {
	m := &member{name: name, done: make(chan struct{})}
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

// look returns the state of the job, and a channel that is closed when it may have changed. A job
// has stopped when one of its programs has and none runs: the shell's own commands only wait then.
func (j *job) look() (state, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.state(), j.changed
}

// state is look with mu held.
func (j *job) state() state {
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
	case anyRuns, anyOwn && !anyStopped:
		return running
	case anyStopped:
		return stopped
	}
	return ended
}

// outcome is the status of the last member, and the signal that has ended it.
func (j *job) outcome() (status, signal int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.members) == 0 {
		return statusOK, 0
	}
	last := j.members[len(j.members)-1]
	if last.program == nil && j.quitBy != 0 && last.status != statusOK {
		return 128 + j.quitBy, j.quitBy
	}
	return last.status, last.signal
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

// pid is the value of $!: the number of the last program. 0: there is none.
func (j *job) pid() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range slices.Backward(j.members) {
		if m.program != nil {
			return m.program.PID()
		}
	}
	return 0
}

// has reports whether the process is or was part of the job.
func (j *job) has(pid int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.members, func(m *member) bool { return m.program != nil && m.program.PID() == pid })
}

// send sends a signal to all programs of the job. One that ends programs also ends the shell's own
// commands.
func (j *job) send(signal int) {
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
