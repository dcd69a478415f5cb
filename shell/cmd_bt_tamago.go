//go:build tamago

package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kernel/types"
	"sonde/kernel/vfs"
	"sonde/trace/lang"
	"sonde/trace/out"
	"sonde/trace/run"
	sources "sonde/trace/source"
)

func init() { builtins = append(builtins, btCommand) }

var btCommand = &Command{
	Name:  "bt",
	Usage: "[-dqv] [-B PERCENT] [-c COMMAND] [-p PID] [-f text|json] [-o FILE] -e SCRIPT | FILE [ARGUMENT...]  |  bt -l [PATTERN]",
	Help:  "run a script in bpftrace's language until it calls exit(), the command ends, or ^C (-l: list what can be probed, -d: print the programs and run nothing, -B: what each probe may take of a CPU, -v: what became of all hits)",
	Run:   runBt,
}

func runBt(c *Context, args []string) error {
	opts, args, err := Options(args, "dlqvB:e:c:p:f:o:")
	if err != nil {
		return err
	}
	from := &sources.Source{Symbols: kallsyms.Kernel(), Types: types.Function}
	if c.Machine.Programs != nil {
		from.Params, from.Calls = callParameters, callNames
	}
	if has(opts, 'l') {
		return btList(c, from, args)
	}
	if pid, ok := opts['p']; ok {
		if from.PID, err = strconv.Atoi(pid); err != nil || from.PID < 1 {
			return Usagef("%q is not the number of a process", pid)
		}
	}
	o, err := btOptions(c, opts, from, args)
	if err != nil {
		return err
	}
	if has(opts, 'd') {
		return btShow(c.Out, o.Unit)
	}
	if path, ok := opts['o']; ok {
		f, err := vfs.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return err
		}
		defer vfs.Close(f)
		o.Out.W = f
	}
	return btError(c, run.Run(o))
}

// btError prints what is wrong with a script as it is: it has several lines.
func btError(c *Context, err error) error {
	var e *lang.Error
	if errors.As(err, &e) {
		fmt.Fprintln(c.Err, e)
		return Status(statusError)
	}
	return err
}

// btOptions compiles the script, and says how it is to run.
func btOptions(c *Context, opts map[byte]string, from *sources.Source, args []string) (*run.Options, error) {
	name, text, params, err := btScript(opts, args)
	if err != nil {
		return nil, err
	}
	format := opts['f']
	if format != "" && format != "text" && format != "json" {
		return nil, Usagef("%q is no format: give text or json", format)
	}
	script, err := lang.Parse(name, text, params...)
	if err != nil {
		return nil, btError(c, err)
	}
	unit, err := lang.Compile(script, &lang.Options{Resolver: from, CPUs: cpu.Num()})
	if err != nil {
		return nil, btError(c, err)
	}
	o := &run.Options{Unit: unit, Places: from.Places, Err: c.Err, Quiet: has(opts, 'q'), Ledger: has(opts, 'v'), Now: cpu.Nanotime, Interrupt: c.Interrupt}
	o.Out = &out.Printer{W: c.Out, JSON: format == "json", Unit: unit, Started: time.Now().Add(-time.Duration(cpu.Nanotime()))}
	if c.Machine.Programs != nil {
		o.Call = callName
	}
	if o.Budget, err = btBudget(opts); err != nil {
		return nil, err
	}
	if command, ok := opts['c']; ok {
		o.Command = c.btCommand(command)
	}
	return o, nil
}

// btBudget reads -B, in thousandths.
func btBudget(opts map[byte]string) (int, error) {
	text, ok := opts['B']
	if !ok {
		return 0, nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent >= 0.1 && percent <= 100) {
		return 0, Usagef("%q is no budget: give 0.1 to 100, in percent of a CPU", text)
	}
	return int(percent*10 + 0.5), nil
}

// btScript returns the script, what errors call it, and its arguments.
func btScript(opts map[byte]string, args []string) (name, text string, params []string, err error) {
	if text, ok := opts['e']; ok {
		return "stdin", text, args, nil
	}
	if len(args) == 0 {
		return "", "", nil, Usagef("give a script: -e SCRIPT, or a file")
	}
	if st, err := vfs.Stat(args[0]); err == nil && st.Size() > lang.MaxBytes {
		return "", "", nil, refusal.New(syscall.EFBIG, "%s has %d bytes, more than %d", args[0], st.Size(), lang.MaxBytes)
	}
	b, err := vfs.ReadFile(args[0])
	return args[0], string(b), args[1:], err
}

// btCommand starts a line of the shell, and tells when it has ended.
func (c *Context) btCommand(line string) func() (<-chan struct{}, error) {
	return func() (<-chan struct{}, error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.again().Run(line)
		}()
		return done, nil
	}
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

// btList prints what can be probed.
func btList(c *Context, from *sources.Source, args []string) error {
	pattern := "*"
	if len(args) > 0 {
		pattern = args[0]
	}
	provider, name, _ := strings.Cut(pattern, ":")
	found := 0
	from.List(func(point string) bool {
		have, what, _ := strings.Cut(point, ":")
		return pattern == "*" || kallsyms.Fits(provider, have) && kallsyms.Fits(name, what)
	}, func(point string) bool {
		found++
		_, err := fmt.Fprintln(c.Out, point)
		return err == nil && !c.Interrupted()
	})
	if found == 0 {
		return refusal.New(syscall.ENOENT, "nothing fits %s", pattern)
	}
	return nil
}
