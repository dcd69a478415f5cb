package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/kthread"
	"sonde/shell/coreutils"
)

// call runs a simple command: a function, one of ours, or a program.
func (s *Shell) call(c *syntax.CallExpr) {
	words, err := s.fields(c.Args)
	if err != nil {
		s.fail(c, err)
		if errors.As(err, new(expand.UnsetParameterError)) && !s.interactive {
			s.flow = leaving
		}
		return
	}
	status := s.substituted
	var assigned []string
	hidden := make(map[string]expand.Variable)
	for _, a := range c.Assigns {
		name := a.Name.Value
		if _, twice := hidden[name]; !twice {
			hidden[name] = s.vars[name]
		}
		if err := s.assign(a); err != nil {
			s.fail(nil, err)
			if len(words) > 0 { // they were for the command alone
				s.restore(hidden)
			}
			return
		}
		assigned = append(assigned, name+"="+s.vars[name].String())
		status = s.substituted
	}
	s.say(append(assigned, words...))
	if len(words) == 0 {
		s.status = status
		return
	}
	s.export(hidden)
	s.invoke(words)
	s.restore(hidden)
}

// say prints what runs, after set -x.
func (s *Shell) say(words []string) {
	if s.opts.trace {
		io.WriteString(s.Err, "+ "+strings.Join(words, " ")+"\n")
	}
}

// export gives programs the variables.
func (s *Shell) export(names map[string]expand.Variable) {
	for name := range names {
		if v, ok := s.vars[name]; ok {
			v.Exported = true
			s.vars[name] = v
		}
	}
}

// restore gives variables their former values.
func (s *Shell) restore(hidden map[string]expand.Variable) {
	for name, v := range hidden {
		s.bytes += size(v) - size(s.vars[name])
		if v.IsSet() {
			s.vars[name] = v
		} else {
			delete(s.vars, name)
		}
	}
}

// invoke runs what the first word names.
func (s *Shell) invoke(words []string) {
	if f := s.funcs[words[0]]; f != nil {
		s.callFunction(f, words)
		return
	}
	s.invokeCommand(words)
}

// invokeCommand is invoke without functions.
func (s *Shell) invokeCommand(words []string) {
	if cmd := s.builtin(words[0]); cmd != nil {
		s.status = s.runCommand(cmd, words[1:])
	} else {
		s.status = s.runProgram(words)
	}
}

// builtin is the command of the shell that a word runs. sh is the program, where there is one, so that
// what it starts can be traced as what any other program starts.
func (s *Shell) builtin(name string) *Command {
	cmd := s.commands[name]
	if cmd == shCommand && s.Machine.Programs != nil {
		if _, err := s.findProgram(name); err == nil {
			return nil
		}
	}
	return cmd
}

// callFunction runs a function with its own parameters and local variables.
func (s *Shell) callFunction(f *function, words []string) {
	params, source, loops := s.params, s.source, s.loops
	s.params, s.source, s.loops = words[1:], f.source, 0
	s.locals = append(s.locals, make(map[string]expand.Variable))
	s.status = statusOK
	s.stmt(f.body)
	if s.flow == returning {
		s.flow = onward
	}
	top := len(s.locals) - 1
	s.restore(s.locals[top])
	s.locals = s.locals[:top]
	s.params, s.source, s.loops = params, source, loops
}

// define defines a function.
func (s *Shell) define(c *syntax.FuncDecl) {
	name := c.Name.Value
	f := &function{body: c.Body, source: s.source, size: 100 * int(c.End().Offset()-c.Pos().Offset())}
	more := f.size
	if old := s.funcs[name]; old != nil {
		more -= old.size
	}
	if s.bytes+more > maxBytes {
		s.fail(nil, fmt.Errorf("%s: variables and functions would take more than %d bytes", name, maxBytes))
		return
	}
	s.bytes += more
	s.funcs[name] = f
	s.status = statusOK
}

// runCommand runs one of our own commands.
func (s *Shell) runCommand(cmd *Command, args []string) int {
	c := s.context(s.In)
	if s.within != nil && c.In == s.typed { // only the foreground reads what is typed
		c.In = strings.NewReader("")
	}
	var status int
	kthread.As(cmd.Name, func() { status = report(c, cmd, guard(cmd, c, args)) })
	for _, w := range []io.Writer{s.Out, s.Err} {
		if p, ok := w.(*pieceWriter); ok && !p.own {
			if err := p.flush(); err != nil && status == statusOK {
				status = report(c, cmd, err)
			}
		}
	}
	return status
}

// context is what a command of this shell runs in.
func (s *Shell) context(in io.Reader) *Context {
	return &Context{In: in, Out: s.Out, Err: s.Err, Shell: s, Machine: s.Machine, Interrupt: s.interrupt}
}

// runProgram runs a program, and returns its status, or the one that says why it cannot run.
func (s *Shell) runProgram(words []string) int {
	path, err := s.findProgram(words[0])
	switch {
	case s.Machine.Programs == nil, errors.Is(err, syscall.ENOENT) && path == "":
		s.complain(words[0], s.notFound(words[0]))
		return s.notBegun(statusNotFound)
	case errors.Is(err, syscall.ENOENT):
		s.complain(words[0], syscall.ENOENT.Error())
		return s.notBegun(statusNotFound)
	case err == nil:
		err = runProgram(s.context(s.In), path, words, nil)
	}
	var status Status
	switch {
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.ENOEXEC):
		return report(s.context(s.In), shCommand, runFile(s.context(s.In), path, words))
	case err != nil:
		s.complain(words[0], strings.TrimPrefix(coreutils.Message("", err), path+": "))
		return s.notBegun(statusNotExecutable)
	}
	return statusOK
}

// notBegun tells the job that a program that was expected will not run.
func (s *Shell) notBegun(status int) int {
	s.job.update(func() { s.job.begun++ })
	return status
}

// timed is the word time before a command.
func (s *Shell) timed(c *syntax.TimeClause) {
	began := time.Now()
	s.status = statusOK
	if c.Stmt != nil {
		s.stmt(c.Stmt)
	}
	printTook(s.Err, time.Since(began))
}
