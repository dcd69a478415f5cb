package shell

import (
	"fmt"
	"runtime/debug"

	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/printk"
)

// flow says how far a command leaves what it is in.
type flow int

const (
	onward      flow = iota
	breaking         // out of state.levels loops
	continuing       // with the next round of the state.levels'th loop
	returning        // from a function or a file
	leaving          // exit: the shell ends
	interrupted      // by ^C, or a limit: nothing of the line runs any more
)

// Run runs a script and returns the status of its last command. A script with
// a mistake in its syntax is not run at all; its status is 2.
func (s *Shell) Run(text string) (status int) { return s.runBetween(text, func(bool) {}) }

// runBetween is Run, and tells when a script that can be run begins, and that it has ended.
func (s *Shell) runBetween(text string, tell func(begins bool)) (status int) {
	script, _, err := parse(text)
	if err != nil {
		return s.mistake(err)
	}
	defer script.forget()
	tell(true)
	defer tell(false)
	s.source, s.flow = script.text, onward
	for _, st := range script.list {
		if s.stop() {
			break
		}
		if st.Background || s.job != nil {
			s.stmt(st)
		} else {
			s.foreground(st)
		}
	}
	return s.status
}

// mistake reports that a script cannot be run.
func (s *Shell) mistake(err error) int {
	s.complain("sh", err.Error())
	s.status = statusUsage
	return s.status
}

// stop reports whether what runs is to be left.
func (s *Shell) stop() bool {
	if s.flow < leaving && s.interrupted() {
		s.flow, s.status = interrupted, statusInterrupted
	}
	return s.flow != onward
}

func (s *Shell) interrupted() bool {
	if s.job != nil && (&Context{Interrupt: s.job.quit}).Interrupted() {
		return true
	}
	return (&Context{Interrupt: s.interrupt}).Interrupted()
}

// stmts runs statements one after the other.
func (s *Shell) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		if s.stop() {
			return
		}
		s.stmt(st)
	}
}

// stmt runs a statement, with its redirections.
func (s *Shell) stmt(st *syntax.Stmt) {
	s.signal = 0
	s.depth++
	defer func() { s.depth-- }()
	switch {
	case s.depth > maxNesting:
		s.flow = interrupted
		s.fail(nil, errNested)
		return
	case st.Coprocess:
		s.fail(nil, fmt.Errorf("|& behind a command is not supported"))
		return
	case st.Background:
		s.launch(st)
		return
	}
	s.redirected(st)
	switch {
	case s.flow >= returning:
	case st.Negated && s.status == statusOK:
		s.status = statusError
	case st.Negated:
		s.status = statusOK
	case s.status != statusOK && s.opts.exit && !s.tested && !isChain(st):
		s.flow = leaving
	}
}

// isChain reports whether the parts of a statement have already looked at their status.
func isChain(st *syntax.Stmt) bool {
	b, ok := st.Cmd.(*syntax.BinaryCmd)
	return ok && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt)
}

// redirected runs the command of a statement with the files that it names.
func (s *Shell) redirected(st *syntax.Stmt) {
	in, out, errs := s.In, s.Out, s.Err
	r, err := s.redirect(st.Redirs)
	switch {
	case err != nil:
		s.Err = errs
		s.fail(st.Cmd, err)
	case st.Cmd == nil:
		s.status = statusOK
	default:
		s.command(st.Cmd)
	}
	s.In, s.Out, s.Err = in, out, errs
	if err := r.close(); err != nil && s.status == statusOK {
		s.fail(st.Cmd, err)
	}
}

// fail reports why a command, or the shell itself, cannot do something.
func (s *Shell) fail(cmd syntax.Command, err error) {
	name := "sh"
	if c, ok := cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() != "" {
		name = c.Args[0].Lit()
	}
	s.status = report(s.context(s.In), &Command{Name: name}, err)
}

// command runs a command of any kind.
func (s *Shell) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		s.call(c)
	case *syntax.BinaryCmd:
		s.binary(c)
	case *syntax.Block:
		s.stmts(c.Stmts)
	case *syntax.Subshell:
		s.apart(func(sub *Shell) { sub.stmts(c.Stmts) })
	case *syntax.IfClause:
		s.branch(c)
	case *syntax.WhileClause:
		s.while(c)
	case *syntax.ForClause:
		s.forEach(c)
	case *syntax.CaseClause:
		s.choose(c)
	case *syntax.FuncDecl:
		s.define(c)
	case *syntax.DeclClause:
		s.declare(c)
	case *syntax.TimeClause:
		s.timed(c)
	default:
		s.truth(cmd)
	}
}

// binary runs a pipeline, or what is after && or || if the status of the first part wants it.
func (s *Shell) binary(c *syntax.BinaryCmd) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		s.pipeline(c)
		return
	}
	s.test(func() { s.stmt(c.X) })
	if (s.status == statusOK) == (c.Op == syntax.AndStmt) && !s.stop() {
		s.stmt(c.Y)
	}
}

// test runs what is only asked for its status: set -e does not heed it.
func (s *Shell) test(f func()) {
	was := s.tested
	s.tested = true
	f()
	s.tested = was
}

// apart runs f in a shell of its own, as ( ) does, and takes its status.
func (s *Shell) apart(f func(sub *Shell)) {
	sub := s.sub()
	sub.safely(f)
	s.status, s.signal = sub.status, sub.signal
	s.stop()
}

// safely runs f; a bug in it ends only the command.
func (s *Shell) safely(f func(*Shell)) {
	defer func() {
		if r := recover(); r != nil {
			printk.Err("shell: panic: %v", r)
			printk.Lines(printk.LevelErr, string(debug.Stack()))
			s.fail(nil, fmt.Errorf("panic: %v", r))
		}
	}()
	f(s)
}
