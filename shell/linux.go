//go:build !nolinux

package shell

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/abi"
	"sonde/linux/calls"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/linux/symbols"
	syscalls "sonde/linux/syscall"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/trace/run"
	sources "sonde/trace/source"
	"sonde/uprobes"
	"sonde/uprobes/link"
)

// The files linux*.go are what the shell needs of linux/. An image without it (tag nolinux) has the
// shell without them.

// OnTable returns the programs of a table for the shell; nil for nil.
func OnTable(t *proc.Table) Programs {
	if t == nil {
		return nil
	}
	return table{t}
}

// TableOf returns the table of a machine's programs, or nil.
func TableOf(m *Machine) *proc.Table {
	if t, ok := m.Programs.(table); ok {
		return t.Table
	}
	return nil
}

// table is a table of processes as the shell's Programs.
type table struct{ *proc.Table }

func (t table) Start(s Start) error {
	_, err := syscalls.Start(t.Table, syscalls.Spec{
		Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir, Files: s.Files, Group: s.Group,
		Ready: func(p *proc.Process) { s.Ready(process{p, t.Table}) },
	})
	return err
}

func (t table) Find(pid int) (Program, error) {
	p, err := t.Table.Find(pid)
	if err != nil {
		return nil, err
	}
	return process{p, t.Table}, nil
}

func (t table) HasGroup(group int) bool           { return t.Init().HasGroup(group) }
func (t table) SendGroup(group, signal int) error { return t.Table.SendGroup(group, t.signal(signal)) }

// signal is a signal that the shell sends.
func (t table) signal(n int) abi.Siginfo { return proc.SignalFrom(t.Init(), n, abi.SI_USER) }

// process is a process as the shell's Program.
type process struct {
	*proc.Process
	table *proc.Table
}

func (p process) PID() int { return p.Process.PID }

func (p process) Group() int {
	group, _ := p.Process.Group()
	return group
}

func (p process) Send(signal int) error {
	if p.Process == p.table.Init() {
		return syscall.EPERM
	}
	return p.Process.Send(table{p.table}.signal(signal))
}

func (p process) Wait() (Change, error) {
	which := proc.Which{Kind: abi.P_PID, ID: p.PID()}
	c, err := p.table.Init().Wait(which, abi.WEXITED|abi.WSTOPPED|abi.WCONTINUED, func() <-chan struct{} { return nil })
	switch {
	case err != nil:
		return Change{}, err
	case c.Code == abi.CLD_STOPPED:
		return Change{State: ProgramStopped, Signal: int(c.Value())}, nil
	case c.Code == abi.CLD_CONTINUED:
		return Change{State: ProgramRuns}, nil
	}
	return Change{State: ProgramEnded, Signal: c.Status.Signal(), Status: c.Status.Code()}, nil
}

// scripted is what scripts can know of programs.
var scripted = sources.Programs{Params: callParameters, Calls: callNames, Functions: programFunctions, Probed: programProbed, Symbol: programSymbol,
	Debug: programDebug, Conventions: programConventions, Goid: programGoid}

// callParameters are a system call's parameters; false: there is no such call.
func callParameters(name string) ([]event.Param, bool) { return calls.Parameters(calls.Called(name)) }

// callNames calls yield for each system call that there is, by the names of Linux's tracepoints.
func callNames(yield func(name string) bool) {
	for n := range syscalls.Numbers {
		if c, ok := syscalls.Lookup(n); ok && !yield(calls.TracedAs(c.Name)) {
			return
		}
	}
}

// programFunctions are the functions of a program's file that fit a pattern, all or those that can have a probe; nil: it
// is none.
func programFunctions(path, pattern string, probed bool) (names []string) {
	uprobes.Program(path, func(f *program.File) error {
		names = slices.DeleteFunc(f.Fitting(pattern), func(name string) bool {
			_, err := f.Find(name, 0)
			return probed && err != nil
		})
		return nil
	})
	return names
}

// programProbed says why a place in a program's file cannot have a probe.
func programProbed(path, symbol string, offset uint64) error {
	return uprobes.Program(path, func(f *program.File) error {
		_, err := f.Find(symbol, offset)
		return err
	})
}

// programSymbol finds a function or a variable of a program's file.
func programSymbol(path, name string) (addr, size uint64, err error) {
	err = program.Read(path, func(f *program.File) error {
		s, err := f.Lookup(name)
		if errors.Is(err, syscall.ENOENT) {
			s, err = f.Variable(name)
		}
		addr, size = s.Addr, s.Size
		return err
	})
	return addr, size, err
}

// programConventions tells where functions of a program's file find their arguments. Of what is no program,
// registering says so.
func programConventions(path string) (of func(attach.Site) goabi.Convention) {
	of = func(attach.Site) goabi.Convention { return goabi.C }
	program.Read(path, func(f *program.File) error {
		of = func(at attach.Site) goabi.Convention { return link.Convention(f, at) }
		return nil
	})
	return of
}

// programGoid is where a goroutine of a program's file has its number; 0: it has none.
func programGoid(path string) (offset int) {
	program.Read(path, func(f *program.File) error {
		offset = f.GoidOffset()
		return nil
	})
	return offset
}

// programDebug reads what the compiler says of a program's file.
func programDebug(path string) (sections map[string][]byte, err error) {
	err = program.Read(path, func(f *program.File) error {
		sections, err = f.Debug()
		return err
	})
	return sections, err
}

// callName names a system call by its number.
func callName(n uint64) string {
	if c, ok := syscalls.Lookup(n); ok {
		return c.Name
	}
	return fmt.Sprintf("call %d", n)
}

// userNames names addresses of programs from now on, until the function that it returns is called.
func userNames(m *Machine) (users run.Users, stop func()) {
	t := TableOf(m)
	if t == nil {
		return nil, func() {}
	}
	names := symbols.Watch(t)
	return names, names.Close
}
