package shell

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/abi"
	"sonde/kernel/kthread"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
	"sonde/shell/coreutils"
	"sonde/shell/paint"
)

// maxParts is how many parts of pipelines and jobs may run at once, of all shells.
const maxParts = 250

var errParts = fmt.Errorf("more than %d parts of pipelines and jobs would run at once", maxParts)

var parts atomic.Int64

// takePart counts a part that is to run.
func takePart() error {
	if parts.Add(1) > maxParts {
		parts.Add(-1)
		return errParts
	}
	return nil
}

// sub returns a shell that works on a copy of the state.
func (s *Shell) sub() *Shell {
	sub := *s
	sub.state = s.state.clone()
	sub.interactive = false
	return &sub
}

// pipeline runs the parts of a pipeline at once, each in a shell of its own. Its status is that of
// the last part.
func (s *Shell) pipeline(c *syntax.BinaryCmd) {
	stages, both := flatten(c)
	subs := make([]*Shell, len(stages))
	var wg sync.WaitGroup
	in, from := s.In, (*vfs.File)(nil)
	for i, st := range stages {
		sub, ends := s.sub(), []*vfs.File{from}
		subs[i], sub.In, sub.stage = sub, in, i
		if i < len(stages)-1 {
			r, w := pipe.New(0)
			sub.Out, in, from = w, r, r
			if both[i] {
				sub.Err = w
			}
			ends = append(ends, w)
		}
		if err := takePart(); err != nil {
			sub.fail(nil, err)
			closeAll(ends)
			continue
		}
		wg.Go(func() {
			defer parts.Add(-1)
			defer closeAll(ends)
			sub.safely(func(sub *Shell) { sub.stmt(st) })
		})
	}
	wg.Wait()
	last := subs[len(subs)-1]
	s.status, s.signal = last.status, last.signal
	for _, sub := range subs {
		if s.opts.pipeFail && sub.status != statusOK && last.status == statusOK {
			s.status = sub.status
		}
	}
	s.stop()
}

// flatten lists the parts of a pipeline, and which of them has its errors in the pipe.
func flatten(c *syntax.BinaryCmd) (stages []*syntax.Stmt, both []bool) {
	if x, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && len(c.X.Redirs) == 0 {
		stages, both = flatten(x)
	} else {
		stages = []*syntax.Stmt{c.X}
	}
	return append(stages, c.Y), append(both, c.Op == syntax.PipeAll)
}

func closeAll(files []*vfs.File) {
	for _, f := range files {
		if f != nil {
			vfs.Close(f)
		}
	}
}

// launch runs a statement in the background.
func (s *Shell) launch(st *syntax.Stmt) {
	if err := takePart(); err != nil {
		s.fail(nil, err)
		if s.within != nil { // jobs that begin jobs could continue for ever
			s.within.root.send(abi.SIGKILL)
		}
		return
	}
	now := *st
	now.Background = false
	j := s.newJob(s.textOf(st))
	j.within, j.root = s.within, j
	if s.within != nil {
		j.root = s.within.root
		j.root.begins(j, true)
	}
	s.jobs.put(j)
	sub := s.sub()
	sub.join(j)
	sub.within = j
	j.main = j.add(j.text, 0)
	kthread.Run(j.text, func() {
		defer parts.Add(-1)
		sub.safely(func(sub *Shell) { sub.stmt(&now) })
		j.finish(j.main, sub.status, sub.signal)
		j.root.begins(j, false)
	})
	j.awaitPrograms(s.programsIn(&now))
	pid, id := "", fmt.Sprintf("%%%d", j.number)
	if n := j.pid(); n != 0 {
		id = strconv.Itoa(n)
		pid = " " + id
	}
	s.last, s.status = id, statusOK
	if s.interactive {
		fmt.Fprintf(s.Err, "[%d]%s\n", j.number, pid)
	}
}

// join makes the shell one of a job's, which ends and stops with it.
func (s *Shell) join(j *job) {
	s.job, s.interrupt = j, j.quit
	if s.onScreen(s.Out) {
		s.Out = &gate{j, s.raw}
	}
	if s.onScreen(s.Err) {
		s.Err = &gate{j, s.raw}
	}
}

// onScreen reports whether w leads to the terminal.
func (s *Shell) onScreen(w io.Writer) bool {
	g, ok := w.(*gate)
	return s.raw != nil && (w == s.raw || ok && g.w == s.raw)
}

// painted is w as it shows colours: at the terminal, unless NO_COLOR is set (no-color.org).
func (s *Shell) painted(w io.Writer) io.Writer {
	if s.onScreen(w) && s.Get("NO_COLOR").Str == "" {
		return paint.On(w)
	}
	return w
}

// complain prints what is wrong after a name.
func (s *Shell) complain(name, text string) { coreutils.Complain(s.painted(s.Err), name, text) }

// programsIn is how many programs a statement begins at once.
func (s *Shell) programsIn(st *syntax.Stmt) int {
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 && s.funcs[c.Args[0].Lit()] == nil && s.isProgram(c.Args[0].Lit()) {
			return 1
		}
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return s.programsIn(c.X) + s.programsIn(c.Y)
		}
	}
	return 0
}
