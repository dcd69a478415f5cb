package shell

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/proc/signal"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
)

// job is a program that the shell has started. While the shell waits for it, it has
// the terminal, if the shell has one.
type job struct {
	c       *Context
	name    string
	process *proc.Process
	modes   *tty.Termios // of the terminal, as the shell wants them; nil: it has none
}

// terminal returns the shell's terminal if the program is to use it.
func (j *job) terminal() *tty.TTY {
	s := j.c.Shell
	if j.c.In != s.In {
		return nil
	}
	return s.Terminal
}

// files are the program's descriptors: the terminal, where the shell has one and the
// line does not say otherwise.
func (j *job) files() []*vfs.File {
	s, mu := j.c.Shell, new(sync.Mutex)
	if s.Terminal == nil {
		return []*vfs.File{inputFile(j.c.In), outputFile(j.c.Out, mu), outputFile(j.c.Err, mu)}
	}
	screen := func() *vfs.File {
		d := &tty.Device{TTY: s.Terminal, Major: 5}
		h, _ := d.Open(vfs.O_RDWR) // a terminal that has hung up says so when it is used
		return vfs.NewFile("/dev/tty", d, h, vfs.O_RDWR)
	}
	files := []*vfs.File{inputFile(j.c.In), outputFile(j.c.Out, mu), outputFile(j.c.Err, mu)}
	if j.c.In == s.In {
		files[0] = screen()
	}
	if j.c.Out == s.Out {
		files[1] = screen()
	}
	if j.c.Err == s.Err {
		files[2] = screen()
	}
	return files
}

// foreground gives the terminal to the program.
func (j *job) foreground() {
	if t := j.terminal(); t != nil {
		modes := t.Termios()
		j.modes = &modes
		group, _ := j.process.Group()
		t.SetForeground(group)
		if typed := j.c.Shell.typeAhead; typed != nil {
			t.Input(typed())
		}
	}
}

// background takes the terminal back, with the modes that it had.
func (j *job) background() {
	if t := j.terminal(); t != nil && j.modes != nil {
		t.SetForeground(0)
		t.SetTermios(*j.modes, true, false)
	}
}

// wait waits until the program ends or stops, and returns its status as sh has it. ^C
// gives its group SIGINT, where no terminal does that.
func (j *job) wait() error {
	defer j.background()
	table, interrupt := j.c.Machine.Programs, j.c.Interrupt
	for {
		change, err := table.Init().Wait(proc.Which{Kind: abi.P_PID, ID: j.process.PID}, abi.WEXITED|abi.WSTOPPED,
			func() <-chan struct{} { return interrupt })
		if errors.Is(err, syscall.EINTR) {
			interrupt = nil
			group, _ := j.process.Group()
			table.SendGroup(group, proc.SignalOf(abi.SIGINT))
			continue
		}
		if err != nil {
			return err
		}
		if change.Code == abi.CLD_STOPPED {
			return j.stopped(change)
		}
		return j.ended(change.Status)
	}
}

// stopped keeps the job for fg.
func (j *job) stopped(c proc.Change) error {
	s := j.c.Shell
	s.jobs = append(s.jobs, j)
	fmt.Fprintf(j.c.Err, "\n[%d] Stopped  %s\n", len(s.jobs), j.name)
	return Status(128 + c.Value())
}

func (j *job) ended(s proc.Status) error {
	if sig := s.Signal(); sig != 0 {
		if sig != abi.SIGINT && sig != abi.SIGPIPE {
			fmt.Fprintf(j.c.Err, "%s: ended by SIG%s\n", j.name, signal.Name(sig))
		}
		return Status(128 + sig)
	}
	if s.Code() != 0 {
		return Status(s.Code())
	}
	return nil
}
