//go:build tamago && !noprobe

package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/probe/attach/places"
	"sonde/probe/types"
	"sonde/trace/export"
	"sonde/trace/lang"
	"sonde/trace/out"
	"sonde/trace/run"
	sources "sonde/trace/source"
)

func init() { builtins = append(builtins, btCommand) }

var btCommand = &Command{
	Name:  "bt",
	Usage: "[OPTION...] -e SCRIPT [ARGUMENT...]  |  bt [OPTION...] FILE [ARGUMENT...]  |  bt -l[v] [PATTERN]",
	Help:  "run a script in bpftrace's language until it calls exit(), the command of -c ends, or ^C (bt --usage: all options)",
	Run:   runBt,
}

// btSource is what attach points are resolved by, and what kaddr() knows. It implements lang.Addresser.
type btSource struct{ *sources.Source }

func (s btSource) Address(name string) (uint64, bool) {
	symbol, err := s.Symbols.Resolve(name)
	return symbol.Addr, err == nil
}

func runBt(c *Context, args []string) error { return runScript(c, args, false) }

// runScript is bt; tight is of its output (out.Printer).
func runScript(c *Context, args []string, tight bool) error {
	f, err := run.ParseFlags(args)
	if err != nil {
		return Usagef("%v", err)
	}
	if f.Usage {
		_, err := io.WriteString(c.Out, run.Usage)
		return err
	}
	from := btSource{&sources.Source{Symbols: kallsyms.Kernel(), Types: types.Function, Table: types.Kernel, Find: places.Find, Dir: c.Shell.dir, PID: f.PID}}
	if c.Machine.Programs != nil {
		from.Programs = scripted
	}
	if f.List {
		return btList(c, from, f)
	}
	if f.PID != 0 && !isProcess(f.PID) {
		return refusal.New(syscall.ESRCH, "there is no process %d", f.PID)
	}
	o, err := btOptions(c, f, from)
	if err != nil {
		return err
	}
	o.Out.Tight = tight
	if f.Show {
		return btShow(c.Out, o.Unit)
	}
	over := make(chan struct{})
	defer close(over)
	switch {
	case f.WithCommand:
		o.Command = c.btCommand(f.Command, over)
	case f.PID != 0:
		o.Command = btProcess(f.PID, over)
	}
	if namesUsers(o.Unit) {
		users, stop := userNames(c.Machine)
		defer stop()
		o.Users = users
	}
	if f.Output != "" {
		file, err := vfs.Open(c.path(f.Output), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return err
		}
		defer vfs.Close(file)
		o.Out.W = file
	}
	if f.Format != "" {
		o.Export, _ = export.New(f.Format, o.Out.W)
	}
	if err := run.Run(o); err != nil {
		return btError(c, err)
	}
	if o.Code != 0 {
		return Status(o.Code)
	}
	return nil
}

// namesUsers tells whether a script may print names of functions of programs.
func namesUsers(u *lang.Unit) bool {
	text := u.Script.Source.Text
	return strings.Contains(text, "ustack") || strings.Contains(text, "usym") || strings.Contains(text, "umap") || strings.Contains(text, "func") && slices.ContainsFunc(u.Programs, func(p *lang.Compiled) bool { return p.Target.User })
}

// btError prints what is wrong with a script as it is: it has several lines.
func btError(c *Context, err error) error {
	var e *lang.Error
	if errors.As(err, &e) {
		fmt.Fprintln(c.Err, e.Text(c.Shell.painted(c.Err)))
		return Status(statusError)
	}
	return err
}

// btOptions compiles the script, and says how it is to run.
func btOptions(c *Context, f *run.Flags, from btSource) (*run.Options, error) {
	unit, err := btCompile(c, f, from)
	if err != nil {
		return nil, err
	}
	o := &run.Options{Unit: unit, Places: from.Places, Err: c.Err, Quiet: f.Quiet, Verify: f.DryRun, Ledger: f.Verbose, Unsafe: f.Unsafe, Budget: f.Budget, Now: cpu.Nanotime, Interrupt: c.Interrupt}
	if !f.Self {
		o.Settle = settle
	}
	o.Out = &out.Printer{W: c.Shell.painted(c.Out), JSON: f.JSON, Unit: unit, Started: btBoot(), Err: c.Shell.painted(c.Err), NoWarnings: f.NoWarnings, Held: types.Held, System: c.btSystem, Cat: c.btCat}
	if c.Machine.Programs != nil {
		o.Out.Call = callName
	}
	return o, nil
}

// settle waits until breakpoints have become jumps, and collects what attaching has left: a script must not count that.
func settle() {
	kprobes.AwaitJumps()
	debug.FreeOSMemory()
}

// btBoot is when the clock of nsecs was 0.
func btBoot() time.Time { return time.Now().Add(-time.Duration(cpu.Nanotime())) }

// btCompile compiles the script, and prints what may be a mistake in it.
func btCompile(c *Context, f *run.Flags, from btSource) (*lang.Unit, error) {
	name, text, params, err := btScript(c, f)
	if err != nil {
		return nil, err
	}
	script, err := lang.Parse(name, text, params...)
	if err != nil {
		return nil, btError(c, err)
	}
	for _, s := range f.Config {
		name, value, _ := strings.Cut(s, "=")
		script.Config = append(script.Config, lang.Setting{Name: name, Value: value})
	}
	unit, err := lang.Compile(script, &lang.Options{Resolver: from, CPUs: cpu.Num(), Epoch: btBoot().UnixNano(), Unsafe: f.Unsafe, Missing: f.Missing, Stamps: export.HasEvents(f.Format)})
	if err != nil {
		return nil, btError(c, err)
	}
	for _, warning := range unit.Warnings {
		if !f.NoWarnings {
			fmt.Fprintln(c.Err, warning.Text(c.Shell.painted(c.Err)))
		}
	}
	return unit, nil
}

// btScript returns the script, what errors call it, and its arguments. A file "-" is the input.
func btScript(c *Context, f *run.Flags) (name, text string, params []string, err error) {
	if f.HasScript {
		return "stdin", f.Script, f.Args, nil
	}
	if len(f.Args) == 0 {
		return "", "", nil, Usagef("give a script: -e SCRIPT, or a file")
	}
	file := c.path(f.Args[0])
	if f.Args[0] == "-" {
		b, err := io.ReadAll(io.LimitReader(interruptible{c, c.In}, lang.MaxBytes+1))
		return "stdin", string(b), f.Args[1:], err
	}
	b, err := readWhole(file, lang.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(f.Args[0], ":") {
		return "", "", nil, Usagef("%s is no file; give a script in quotes after -e, as in bt -e 'kprobe:vfs.Read { @ = count(); }'", f.Args[0])
	}
	return f.Args[0], string(b), f.Args[1:], err
}

// btCommand starts a line of the shell, which ends with the script, and passes on its status when it has
// ended: that there is no such command is how the script ends, too.
func (c *Context) btCommand(line string, over <-chan struct{}) func(count func(on bool)) <-chan int {
	return func(count func(on bool)) <-chan int {
		done := make(chan int, 1)
		go func() {
			s, ended := c.again(), make(chan struct{})
			s.interrupt = over
			j := s.job
			go func() {
				select {
				case <-over:
					j.sendPart(s.stage, abi.SIGTERM)
				case <-ended:
				}
			}()
			status := s.runBetween(line, count)
			close(ended)
			if status != statusNotFound && status != statusNotExecutable {
				status = statusOK
			}
			done <- status
		}()
		return done
	}
}

// isProcess tells whether a process has not ended.
func isProcess(pid int) bool {
	_, err := vfs.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

// btProcess passes on when a process has ended: its script ends with it.
func btProcess(pid int, over <-chan struct{}) func(count func(on bool)) <-chan int {
	return func(count func(on bool)) <-chan int {
		done := make(chan int, 1)
		count(true)
		go func() {
			for isProcess(pid) {
				select {
				case <-over:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
			done <- statusOK
		}()
		return done
	}
}

// btSystem runs what system() says, and returns what it printed.
func (c *Context) btSystem(line string) (string, error) {
	var b bytes.Buffer
	s := c.again()
	s.Out = &b
	s.Run(line)
	return b.String(), nil
}

func (c *Context) btCat(file string) (string, error) {
	b, err := readUpTo(c.path(file), lang.MaxCat)
	return string(b), err
}

// btShow prints the programs of a script.
func btShow(w io.Writer, u *lang.Unit) error {
	for _, p := range u.Programs {
		if _, err := fmt.Fprintf(w, "%s: %d instructions\n%s\n", p.Point.Text, len(p.Insns), p.Text); err != nil {
			return err
		}
	}
	return nil
}
