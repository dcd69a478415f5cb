//go:build tamago

package examples

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// funccount: count the calls of all functions that match a pattern.
//
//	insmod funccount target=vfs.*
//	cat /sys/kernel/debug/funccount
//	rmmod funccount
//
// Functions that cannot be probed, because hits use them, are left out.
type funccount struct {
	name     string
	target   string
	interval int
	most     int
	counted  []counter
	remove   func()
	left     int // number of functions left out
	show     *tally.Show
}

// counter is a function that is counted.
type counter struct {
	name   string
	ledger func() kprobes.Ledger
}

// maxCounted is how many functions can be counted: each takes some memory.
const maxCounted = 2000

// maxInProgram is the same for a program's functions, whose probes are registered one by
// one.
const maxInProgram = 200

func init() {
	module.Register(&module.Module{
		Name: "funccount",
		Doc:  "count the calls of functions: target=vfs.*",
		New:  newFunccount,
	})
}

func newFunccount(name string) *module.Instance {
	c := &funccount{name: name, most: 20}
	return &module.Instance{
		Params: module.Params{
			"target":   module.String(&c.target, "functions, or FILE:FUNCTIONS of a program; * matches any text").Valid(validTarget),
			"interval": module.Int(&c.interval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&c.most, "show the n most frequent").Within(1, maxShown),
		},
		Init: c.init,
		Exit: c.exit,
	}
}

// countCall does nothing: the probe counts its hits itself.
func countCall(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

func (c *funccount) init() error {
	if c.target == "" {
		return refusal.New(syscall.EINVAL, "give the functions, as in target=vfs.*")
	}
	var err error
	if path, pattern, ok := inProgram(c.target); ok {
		err = c.inProgram(path, pattern)
	} else if all := tally.Functions(kallsyms.Kernel(), c.target); c.fits(len(all), maxCounted, &err) {
		err = c.register(all)
	}
	if err != nil {
		return err
	}
	if c.show, err = tally.Begin(c.name, time.Duration(c.interval)*time.Second, c.write); err != nil {
		c.remove()
	}
	return err
}

// fits reports whether n functions can be counted; if not it sets err.
func (c *funccount) fits(n, most int, err *error) bool {
	switch {
	case n == 0:
		*err = refusal.New(syscall.ENOENT, "no function matches %s", c.target)
	case n > most:
		*err = refusal.New(syscall.E2BIG, "%s matches %d functions, more than %d; give a longer pattern", c.target, n, most)
	}
	return *err == nil
}

// inProgram sets probes on the functions of a program.
func (c *funccount) inProgram(path, pattern string) error {
	if programs == nil {
		return errNoPrograms(path)
	}
	all, err := programs.functions(path)
	var names []string
	for _, name := range all {
		if tally.Fits(pattern, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if err != nil || !c.fits(len(names), maxInProgram, &err) {
		return err
	}
	var set []*probed
	for _, name := range names {
		p, failed := onEntry(path+":"+name, nil, func(*amd64.Regs) {})
		if failed != nil {
			err = cmp.Or(err, failed)
			c.left++
			continue
		}
		set = append(set, p)
		c.counted = append(c.counted, counter{name, p.ledger})
	}
	c.remove = func() {
		for _, p := range set {
			p.remove()
		}
	}
	if len(set) > 0 {
		return nil
	}
	return err
}

// register sets probes on all functions that can be probed: together, which is
// fastest, or one by one if one of them is refused.
func (c *funccount) register(all []kallsyms.Symbol) (refused error) {
	var ks []*kprobes.Kprobe
	for _, fn := range all {
		if why := kprobes.NoProbe(uintptr(fn.Addr)); why != "" {
			refused = refusal.New(syscall.EINVAL, "%s: %s", fn.Name, why)
			continue
		}
		ks = append(ks, &kprobes.Kprobe{Addr: uintptr(fn.Addr), PreHandler: countCall})
	}
	if len(ks) > 0 && kprobes.RegisterKprobes(ks) != nil {
		ks = slices.DeleteFunc(ks, func(k *kprobes.Kprobe) bool {
			err := kprobes.RegisterKprobe(k)
			refused = cmp.Or(refused, err)
			return err != nil
		})
	}
	for _, k := range ks {
		name, _, _, _ := kallsyms.Lookup(uint64(k.Addr))
		c.counted = append(c.counted, counter{name, k.Ledger})
	}
	c.remove = func() { kprobes.UnregisterKprobes(ks) }
	if c.left = len(all) - len(ks); len(ks) > 0 {
		return nil
	}
	return refused
}

func (c *funccount) exit() {
	c.remove()
	c.show.End()
}

// write prints the functions that were called, the most frequent first.
func (c *funccount) write(w io.Writer) {
	type line struct {
		name string
		kprobes.Ledger
	}
	var lines []line
	missed := uint64(0)
	for _, f := range c.counted {
		l := f.ledger()
		missed += l.Missed()
		if l.Entered > 0 {
			lines = append(lines, line{f.name, l})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.Entered, a.Entered), strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(w, "%-60s %10s\n", "FUNCTION", "COUNT")
	for _, l := range lines[:min(len(lines), c.most)] {
		fmt.Fprintf(w, "%-60s %10d\n", l.name, l.Entered)
	}
	fmt.Fprintf(w, "%d of %d functions were called, %s missed, %s cannot be probed\n", len(lines), len(c.counted), tally.Some(missed, "call"), tally.Some(c.left, "function"))
}
