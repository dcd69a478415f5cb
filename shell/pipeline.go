package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
)

// parallel reports whether the commands of a pipeline run concurrently, as a job: if there is a
// program, or a command that starts one.
func (s *Shell) parallel(p pipeline) bool {
	for _, inv := range p.commands {
		word := s.expand(inv.words[0])
		if cmd := s.commands[word]; cmd != nil && cmd.Job || s.isProgram(word) {
			return true
		}
	}
	return false
}

// startPipeline starts the commands of a pipeline as members of j. Programs are waited for only
// when all have started: until then they keep their group.
func (s *Shell) startPipeline(j *job, p pipeline) []*member {
	sub := s.sub(j)
	in, from := s.In, (*vfs.File)(nil)
	var members, programs []*member
	for i, inv := range p.commands {
		c := sub.context(in)
		ends := []*vfs.File{from}
		if i < len(p.commands)-1 {
			r, w := pipe.New(0)
			c.Out, in, from = w, r, r
			ends = append(ends, w)
		}
		c.Interrupt = j.quit
		m := sub.startMember(c, inv, ends)
		members = append(members, m)
		if m.program != nil {
			programs = append(programs, m)
		}
	}
	for _, m := range programs {
		go j.watch(m)
	}
	return members
}

// startMember starts one command, and closes the ends of pipes that only it uses.
func (s *Shell) startMember(c *Context, inv invocation, ends []*vfs.File) *member {
	words := s.words(inv)
	m := s.job.add(words[0])
	r := new(redirection)
	err := r.open(c, inv.redirects, s.expand)
	if cmd := s.commands[words[0]]; cmd != nil {
		go func() {
			status := s.finishCommand(c, cmd, words, r, err)
			closeAll(ends)
			s.job.finish(m, status, 0)
		}()
		return m
	}
	status := s.startProgram(c, m, words, err)
	r.close()
	closeAll(ends)
	if m.program == nil {
		s.job.finish(m, status, 0)
	}
	return m
}

// startProgram starts a program, unless err says that its files could not be opened, and returns
// the status if it cannot.
func (s *Shell) startProgram(c *Context, m *member, words []string, err error) int {
	if err != nil {
		return report(s.context(nil), &Command{Name: words[0]}, err)
	}
	path, err := findProgram(words[0])
	switch {
	case errors.Is(err, syscall.ENOENT) && path == "":
		io.WriteString(c.Err, s.notFound(words[0]))
		return statusNotFound
	case errors.Is(err, syscall.ENOENT):
		fmt.Fprintf(c.Err, "%s: %v\n", words[0], syscall.ENOENT)
		return statusNotFound
	case err == nil:
		err = s.job.begin(c, m, path, words, nil)
	}
	if err != nil {
		fmt.Fprintf(c.Err, "%s: %s\n", words[0], strings.TrimPrefix(message(nil, err), path+": "))
		return statusNotExecutable
	}
	return statusOK
}

func closeAll(files []*vfs.File) {
	for _, f := range files {
		if f != nil {
			vfs.Close(f)
		}
	}
}

// runJob runs a pipeline in the foreground, until it ends or stops.
func (s *Shell) runJob(p pipeline) int {
	if s.job != nil {
		members := s.startPipeline(s.job, p)
		for _, m := range members {
			<-m.done
		}
		return members[len(members)-1].status
	}
	j := s.newJob(p.text)
	j.front = s.Terminal
	s.startPipeline(j, p)
	return s.await(j)
}

// await waits until a job ends or stops, and returns its status. ^C ends the shell's own commands,
// and sends SIGINT to its programs if no terminal does that.
func (s *Shell) await(j *job) int {
	interrupt := s.interrupt
	for {
		now, changed := j.look()
		if now != running {
			s.returnTerminal(j)
			return s.rested(j, now)
		}
		if len(j.programs()) == 0 {
			s.returnTerminal(j) // from here on, our own ^C ends the shell's own commands
		}
		select {
		case <-changed:
		case <-interrupt:
			interrupt = nil
			j.send(abi.SIGINT)
		}
	}
}

// rested handles the end, or the stop, of a job in the foreground.
func (s *Shell) rested(j *job, now state) int {
	status, signal := j.outcome()
	switch {
	case now == stopped:
		s.jobs.put(j)
		j.told = stopped
		fmt.Fprintln(s.Err)
		s.show(s.Err, j, "")
		return status
	case signal == abi.SIGINT && s.interactive && !s.interrupted():
		fmt.Fprintln(s.Err) // behind the ^C
	case signal != 0 && signal != abi.SIGINT && signal != abi.SIGPIPE:
		fmt.Fprintf(s.Err, "%-24s%s\n", ending(signal), j.text)
	}
	s.jobs.remove(j)
	return status
}

// lendTerminal gives the terminal to a job in the foreground when its first program starts.
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

// returnTerminal takes the terminal back, with its former modes, and the unread input.
func (s *Shell) returnTerminal(j *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.front
	if t == nil || j.modes == nil {
		return
	}
	t.SetTermios(*j.modes, true, false)
	j.front, j.modes = nil, nil
	if typed := t.Reclaim(); s.typedBack != nil {
		s.typedBack(typed)
	}
}
