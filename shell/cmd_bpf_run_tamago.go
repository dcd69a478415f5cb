//go:build tamago && !noprobe

package shell

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"sonde/probe/program"
	"sonde/shell/coreutils"
)

// bpfRun loads an object file, attaches its programs, and prints what they say and record: until ^C, or
// while a command runs. At the end it prints the maps, and removes all that no file keeps.
func bpfRun(c *Context, args []string) error {
	opts, args, err := coreutils.Options(args, "+B:")
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return Usagef("give an object file, as in bpf run prog.o")
	case len(args) == 1 && c.Interrupt == nil:
		return Usagef("give a command: without a terminal, nobody can type ^C")
	}
	_, data, err := bpfRead(c.path(args[0]))
	if err != nil {
		return err
	}
	set, err := program.LoadObject(data)
	if err == nil {
		defer set.Close()
		for _, p := range set.Progs {
			if share, ok := opts['B']; ok && err == nil {
				err = setBudget(p, share)
			}
		}
	}
	if err == nil {
		err = set.Attach("bpf")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, p := range set.Progs {
		l := p.Links()[0]
		fmt.Fprintf(c.Err, "bpf: program %d, %s, is at %s\n", p.ID, p.Checked.Program.Name, strings.Join(placesOf(l), ", "))
	}
	both := *c // the command and the programs print at the same time
	both.Out = &lockedWriter{w: c.Out}
	err = during(func(over <-chan struct{}) { followSet(both.Out, set, over) }, func() error {
		defer set.Detach()
		return both.bpfMeanwhile(args[1:])
	})
	return cmp.Or(err, printSet(c.Out, set))
}

// placesOf names the first places of a link.
func placesOf(l *program.Link) (names []string) {
	places := l.Places()
	for _, at := range places[:min(len(places), listed)] {
		names = append(names, at.Where)
	}
	if n := len(places) - listed; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return names
}

// bpfMeanwhile runs a command, or waits for ^C.
func (c *Context) bpfMeanwhile(command []string) error {
	if len(command) == 0 {
		<-c.Interrupt
		return nil
	}
	if status := c.again().Run(scriptOf(command)); status != statusOK {
		return Status(status)
	}
	return nil
}

// followSet prints records and texts as they come, and after over is closed those that are left.
func followSet(out io.Writer, set *program.Set, over <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for last := false; ; {
		for line, ok := program.Said(); ok; line, ok = program.Said() {
			fmt.Fprintln(out, line)
		}
		for _, m := range set.Maps {
			if m.Ring() != nil {
				printRecords(out, m)
			}
		}
		if last {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			last = true
		}
	}
}

// printSet prints what is in the maps at the end, those of constants left out, and how often each program
// has run.
func printSet(out io.Writer, set *program.Set) (err error) {
	for _, m := range set.Maps {
		if m.Ring() == nil && !strings.HasPrefix(m.Spec.Name, ".rodata") {
			fmt.Fprintf(out, "map %s:\n", m.Spec.Name)
			err = cmp.Or(err, dumpMap(out, m))
		}
		if n := m.Lost(); n > 0 {
			fmt.Fprintf(out, "map %s: %d did not fit\n", m.Spec.Name, n)
		}
	}
	for _, p := range set.Progs {
		err = cmp.Or(err, printAccount(out, p))
	}
	return err
}

// printAccount prints what became of a program's hits: how often it has run, and what else there was.
func printAccount(out io.Writer, p *program.Prog) error {
	a := p.Account()
	line := fmt.Sprintf("program %s: run %d times", p.Checked.Program.Name, a.Run)
	for _, more := range []struct {
		n    int64
		what string
	}{{int64(a.Recursion), "hits inside of programs"}, {int64(a.Disarmed), "not handled"}, {int64(a.Throttled), "throttled"}, {int64(a.Held), "before all were attached"}, {a.Unexplained, "unexplained"}} {
		if more.n != 0 {
			line += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	_, err := fmt.Fprintln(out, line)
	return err
}
