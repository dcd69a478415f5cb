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
var (
	countTarget   string
	countInterval int
	countMost     = 20
	counted       []counter
	countRemove   func()
	countLeft     int // number of functions left out
	countShow     *tally.Show
)

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
		Params: module.Params{
			"target":   module.String(&countTarget, "functions, or FILE:FUNCTIONS of a program; * matches any text").Valid(validTarget),
			"interval": module.Int(&countInterval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&countMost, "show the n most frequent").Within(1, maxShown),
		},
		Init: countInit,
		Exit: countExit,
	})
}

// countCall does nothing: the probe counts its hits itself.
func countCall(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

func countInit() error {
	if countTarget == "" {
		return refusal.New(syscall.EINVAL, "give the functions, as in target=vfs.*")
	}
	var err error
	counted, countLeft = nil, 0
	if path, pattern, ok := inProgram(countTarget); ok {
		err = countProgram(path, pattern)
	} else if all := tally.Functions(kallsyms.Kernel(), countTarget); countFits(len(all), maxCounted, &err) {
		err = countRegister(all)
	}
	if err != nil {
		return err
	}
	if countShow, err = tally.Begin("funccount", time.Duration(countInterval)*time.Second, countWrite); err != nil {
		countRemove()
	}
	return err
}

// countFits reports whether n functions can be counted; if not it sets err.
func countFits(n, most int, err *error) bool {
	switch {
	case n == 0:
		*err = refusal.New(syscall.ENOENT, "no function matches %s", countTarget)
	case n > most:
		*err = refusal.New(syscall.E2BIG, "%s matches %d functions, more than %d; give a longer pattern", countTarget, n, most)
	}
	return *err == nil
}

// countProgram sets probes on the functions of a program.
func countProgram(path, pattern string) error {
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
	if err != nil || !countFits(len(names), maxInProgram, &err) {
		return err
	}
	var set []*probed
	for _, name := range names {
		p, failed := onEntry(path+":"+name, nil, func(*amd64.Regs) {})
		if failed != nil {
			err = cmp.Or(err, failed)
			countLeft++
			continue
		}
		set = append(set, p)
		counted = append(counted, counter{name, p.ledger})
	}
	countRemove = func() {
		for _, p := range set {
			p.remove()
		}
	}
	if len(set) > 0 {
		return nil
	}
	return err
}

// countRegister sets probes on all functions that can be probed: together, which is
// fastest, or one by one if one of them is refused.
func countRegister(all []kallsyms.Symbol) (refused error) {
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
		counted = append(counted, counter{name, k.Ledger})
	}
	countRemove = func() { kprobes.UnregisterKprobes(ks) }
	if countLeft = len(all) - len(ks); len(ks) > 0 {
		return nil
	}
	return refused
}

func countExit() {
	countRemove()
	countShow.End()
}

// countWrite prints the functions that were called, the most frequent first.
func countWrite(w io.Writer) {
	type line struct {
		name string
		kprobes.Ledger
	}
	var lines []line
	missed := uint64(0)
	for _, c := range counted {
		l := c.ledger()
		missed += l.Missed()
		if l.Entered > 0 {
			lines = append(lines, line{c.name, l})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.Entered, a.Entered), strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(w, "%-60s %10s\n", "FUNCTION", "COUNT")
	for _, l := range lines[:min(len(lines), countMost)] {
		fmt.Fprintf(w, "%-60s %10d\n", l.name, l.Entered)
	}
	fmt.Fprintf(w, "%d of %d functions were called, %s missed, %s cannot be probed\n", len(lines), len(counted), tally.Some(missed, "call"), tally.Some(countLeft, "function"))
}
