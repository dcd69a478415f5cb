//go:build tamago

package examples

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// stackcount: which code calls a function, by the stack of each call; as a tree of callers,
// or folded, a line for each stack, which is the input of flame graphs.
//
//	insmod stackcount target=vfs.Read
//	insmod stackcount target=vfs.Read folded=1
var (
	stackTarget   string
	stackInterval int
	stackMost     = 10
	stackFolded   bool
	stackCounts   *tally.Stacks
	stackProbe    *probed
	stackMu       sync.Mutex
	stackPrograms map[string]uint64 // by the names of a program's functions; guarded by stackMu
	stackShow     *tally.Show
)

func init() {
	module.Register(&module.Module{
		Name: "stackcount",
		Doc:  "count the stacks that a function is called on: target=vfs.Read",
		Params: module.Params{
			"target":   module.String(&stackTarget, "function, or FILE:FUNCTION of a program").Valid(validTarget),
			"folded":   module.Bool(&stackFolded, "print one line per stack, outermost call first"),
			"interval": module.Int(&stackInterval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&stackMost, "show the n most frequent").Within(1, maxShown),
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

// stackInProgram does the same for a program. It resolves names at once, because the
// program may be gone later.
func stackInProgram(r *amd64.Regs) {
	names := programs.stack(r)
	stackMu.Lock()
	defer stackMu.Unlock()
	stackPrograms[strings.Join(names, ";")]++
}

func stackInit() (err error) {
	if stackTarget == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	stackCounts, stackPrograms = new(tally.Stacks), map[string]uint64{}
	if stackProbe, err = onEntry(stackTarget, stackCalled, stackInProgram); err != nil {
		return err
	}
	if stackShow, err = tally.Begin("stackcount", time.Duration(stackInterval)*time.Second, stackWrite); err != nil {
		stackProbe.remove()
	}
	return err
}

func stackExit() {
	stackProbe.remove()
	stackShow.End()
}

// stackWrite prints the most frequent stacks.
func stackWrite(w io.Writer) {
	all := stackAll()
	l := stackProbe.ledger()
	if !stackFolded {
		fmt.Fprintf(w, "%s: %s on %s, %d missed\n", stackTarget, tally.Some(l.Handled, "call"), tally.Some(len(all), "stack"), l.Missed()+stackCounts.Lost())
	}
	for _, s := range all[:min(len(all), stackMost)] {
		names := s.names
		if stackFolded {
			slices.Reverse(names)
			fmt.Fprintf(w, "%s %d\n", strings.Join(names, ";"), s.count)
			continue
		}
		fmt.Fprintf(w, "%8d %s\n", s.count, names[0])
		for i, name := range names[1:] {
			fmt.Fprintf(w, "%9s%s%s\n", "", strings.Repeat(" ", i), name)
		}
	}
}

// stack is one stack, the innermost function first.
type stack struct {
	names []string
	count uint64
}

// stackAll returns the stacks of the kernel or of programs, the most frequent first.
func stackAll() (all []stack) {
	for _, s := range stackCounts.All() {
		all = append(all, stack{stackNames(s.Calls), s.Count})
	}
	stackMu.Lock()
	defer stackMu.Unlock()
	for names, n := range stackPrograms {
		all = append(all, stack{strings.Split(names, ";"), n})
	}
	slices.SortStableFunc(all, func(a, b stack) int { return cmp.Compare(b.count, a.count) })
	return all
}

// stackNames returns the functions of return addresses.
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
