package shell

import (
	"fmt"

	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/abi"
)

// foreground runs a statement until it ends or stops.
func (s *Shell) foreground(st *syntax.Stmt) {
	j := s.newJob(s.textOf(st))
	if !s.interactive {
		j.front = s.Controlling
		s.inline(j, func(s *Shell) { s.stmt(st) })
		j.leaveTerminal()
		return
	}
	j.main = j.add(j.text, 0)
	j.front = s.Terminal
	before := s.state.clone()
	fore := *s
	fore.join(j)
	go func() {
		fore.safely(func(fore *Shell) { fore.stmt(st) })
		j.finish(j.main, fore.status, fore.signal)
	}()
	status, stopped := s.await(j)
	if stopped { // it continues with the state that it has
		s.state = before
	}
	s.status = status
}

// inline runs f, a job that is no user's, in the shell's own goroutine: nothing can stop it.
func (s *Shell) inline(j *job, f func(*Shell)) {
	j.main = j.add(j.text, 0)
	over := make(chan struct{})
	if s.interrupt != nil {
		go func() {
			select {
			case <-s.interrupt:
				j.send(abi.SIGINT)
			case <-over:
			}
		}()
	}
	s.job = j
	s.safely(f)
	s.job = nil
	close(over)
	if (&Context{Interrupt: s.interrupt}).Interrupted() { // whether or not that has been sent yet
		j.endOwn(abi.SIGINT)
	}
	j.finish(j.main, s.status, s.signal)
	s.status = s.rested(j, ended)
}

// await waits until a job ends or stops, and returns its status. ^C ends the shell's own commands,
// and sends SIGINT to its programs if no terminal does that; ^Z stops it in the same way.
func (s *Shell) await(j *job) (status int, stops bool) {
	interrupt := s.interrupt
	for {
		now, changed := j.look()
		if now != running {
			s.returnTerminal(j)
			j.update(func() { j.front = nil })
			return s.rested(j, now), now == stopped
		}
		if len(j.programs()) == 0 {
			s.returnTerminal(j) // from here on, our own ^C ends the shell's own commands
		}
		select {
		case <-changed:
		case <-s.suspend:
			j.innermost().suspend()
		case <-interrupt:
			interrupt = nil
			j.send(abi.SIGINT)
		}
	}
}

// rested handles the end, or the stop, of a job in the foreground.
func (s *Shell) rested(j *job, now jobState) int {
	status, signal := j.outcome()
	switch {
	case now == stopped:
		j.hold()
		s.jobs.put(j)
		j.told = stopped
		fmt.Fprintln(s.Err)
		s.show(s.Err, j, "")
		return status
	case signal == abi.SIGINT && s.interactive && !s.interrupted():
		fmt.Fprintln(s.Err) // after the ^C
	case signal != 0 && signal != abi.SIGINT && signal != abi.SIGPIPE:
		fmt.Fprintf(s.Err, "%-24s%s\n", ending(signal), j.text)
	}
	s.jobs.remove(j)
	return status
}

// lendTerminal gives the terminal to a job in the foreground when a program of it starts.
func (j *job) lendTerminal(s *Shell) {
	j.mu.Lock()
	t, group := j.front, j.group
	if t == nil {
		j.mu.Unlock()
		return
	}
	if j.modes == nil {
		modes := t.Termios()
		j.modes = &modes
	}
	j.mu.Unlock()
	t.SetForeground(group)
	if s.typeAhead != nil {
		t.Input(s.typeAhead())
	}
}

// leaveTerminal ends what lendTerminal began for a script. What was typed stays there, and the modes, for the next
// command.
func (j *job) leaveTerminal() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.modes != nil {
		j.front.SetForeground(0)
		j.modes = nil
	}
}

// returnTerminal takes the terminal back, with its former modes, and the unread input.
func (s *Shell) returnTerminal(j *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.front
	if t == nil || j.modes == nil {
		return
	}
	t.SetTermios(*j.modes, true, false)
	j.modes = nil
	if typed := t.Reclaim(); s.typedBack != nil {
		s.typedBack(typed)
	}
}
