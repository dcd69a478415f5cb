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
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// funccount: count the calls of all functions that match a pattern.
//
//	insmod funccount target=vfs.*
//	cat /sys/kernel/debug/funccount
//	rmmod funccount
//
// Functions that cannot have a probe, because hits go through them, are left out.
var (
	countTarget   string
	countInterval int
	countMost     = 20
	counted       []*kprobes.Kprobe
	countLeft     int // functions left out
	countShow     *tally.Show
)

// maxCounted is the most functions that are counted: each takes some memory.
const maxCounted = 2000

func init() {
	module.Register(&module.Module{
		Name: "funccount",
		Doc:  "count the calls of functions: target=vfs.*",
		Params: module.Params{
			"target":   module.String(&countTarget, "functions; * stands for anything"),
			"interval": module.Int(&countInterval, "seconds between reports in the log; 0: only the one of rmmod"),
			"n":        module.Int(&countMost, "show the n most frequent"),
		},
		Init: countInit,
		Exit: countExit,
	})
}

// countCall has nothing to do: the probe counts its hits itself.
func countCall(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

func countInit() error {
	if countTarget == "" {
		return fmt.Errorf("give the functions, as in target=vfs.*: %w", syscall.EINVAL)
	}
	all := tally.Functions(kallsyms.Kernel(), countTarget)
	switch {
	case len(all) == 0:
		return fmt.Errorf("no function matches %s: %w", countTarget, syscall.ENOENT)
	case len(all) > maxCounted:
		return fmt.Errorf("%s matches %d functions, more than %d: %w", countTarget, len(all), maxCounted, syscall.E2BIG)
	}
	if err := countRegister(all); err != nil {
		return err
	}
	var err error
	if countShow, err = tally.Begin("funccount", time.Duration(countInterval)*time.Second, countWrite); err != nil {
		kprobes.UnregisterKprobes(counted)
	}
	return err
}

// countRegister sets probes on all functions that can have one: together, which is
// fastest, or one by one if one of them is refused.
func countRegister(all []kallsyms.Symbol) (refused error) {
	var ks []*kprobes.Kprobe
	for _, fn := range all {
		if why := kprobes.NoProbe(uintptr(fn.Addr)); why != "" {
			refused = fmt.Errorf("%s: %s: %w", fn.Name, why, syscall.EINVAL)
			continue
		}
		ks = append(ks, &kprobes.Kprobe{Addr: uintptr(fn.Addr), PreHandler: countCall})
	}
	counted = ks
	if len(ks) > 0 && kprobes.RegisterKprobes(ks) != nil {
		counted = slices.DeleteFunc(ks, func(k *kprobes.Kprobe) bool {
			err := kprobes.RegisterKprobe(k)
			refused = cmp.Or(refused, err)
			return err != nil
		})
	}
	if countLeft = len(all) - len(counted); len(counted) > 0 {
		return nil
	}
	return refused
}

func countExit() {
	kprobes.UnregisterKprobes(counted)
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
	for _, k := range counted {
		l := k.Ledger()
		missed += l.Missed()
		if name, _, _, _ := kallsyms.Lookup(uint64(k.Addr)); l.Entered > 0 {
			lines = append(lines, line{name, l})
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
