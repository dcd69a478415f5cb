//go:build tamago

package examples

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// stackcount: who calls a function, by the stack of each call; as a tree of callers, or
// folded, a line for each stack, as flame graphs are made of.
//
//	insmod stackcount target=vfs.Read
//	insmod stackcount target=vfs.Read folded=1
var (
	stackTarget   string
	stackInterval int
	stackMost     = 10
	stackFolded   bool
	stackCounts   *tally.Stacks
	stackProbe    *kprobes.Kprobe
	stackShow     *tally.Show
)

func init() {
	module.Register(&module.Module{
		Name: "stackcount",
		Doc:  "count the stacks that a function is called on: target=vfs.Read",
		Params: module.Params{
			"target":   module.String(&stackTarget, "function"),
			"folded":   module.Bool(&stackFolded, "a line per stack, outermost call first"),
			"interval": module.Int(&stackInterval, "seconds between reports in the log; 0: only the one of rmmod"),
			"n":        module.Int(&stackMost, "show the n most frequent"),
		},
		Init: stackInit,
		Exit: stackExit,
	})
}

func stackCalled(_ *kprobes.Kprobe, r *amd64.Regs) int {
	var calls [tally.Depth]uintptr
	stackCounts.Add(calls[:die.Callers(r, calls[:])])
	return 0
}

func stackInit() (err error) {
	if stackTarget == "" {
		return fmt.Errorf("give the function, as in target=vfs.Read: %w", syscall.EINVAL)
	}
	stackCounts = new(tally.Stacks)
	stackProbe = &kprobes.Kprobe{SymbolName: stackTarget, PreHandler: stackCalled}
	if err := kprobes.RegisterKprobe(stackProbe); err != nil {
		return err
	}
	if stackShow, err = tally.Begin("stackcount", time.Duration(stackInterval)*time.Second, stackWrite); err != nil {
		kprobes.UnregisterKprobe(stackProbe)
	}
	return err
}

func stackExit() {
	kprobes.UnregisterKprobe(stackProbe)
	stackShow.End()
}

// stackWrite prints the most frequent stacks.
func stackWrite(w io.Writer) {
	all := stackCounts.All()
	l := stackProbe.Ledger()
	if !stackFolded {
		fmt.Fprintf(w, "%s: %s on %s, %d missed\n", stackTarget, tally.Some(l.Handled, "call"), tally.Some(len(all), "stack"), l.Missed()+stackCounts.Lost())
	}
	for _, s := range all[:min(len(all), stackMost)] {
		names := stackNames(s.Calls)
		if stackFolded {
			slices.Reverse(names)
			fmt.Fprintf(w, "%s %d\n", strings.Join(names, ";"), s.Count)
			continue
		}
		fmt.Fprintf(w, "%8d %s\n", s.Count, names[0])
		for i, name := range names[1:] {
			fmt.Fprintf(w, "%9s%s%s\n", "", strings.Repeat(" ", i), name)
		}
	}
}

// stackNames returns the functions of calls, which are return addresses.
func stackNames(calls []uintptr) (names []string) {
	for _, pc := range calls {
		name := "?"
		if fn := runtime.FuncForPC(pc - 1); fn != nil {
			name = fn.Name()
		}
		names = append(names, name[strings.LastIndexByte(name, '/')+1:])
	}
	return names
}
