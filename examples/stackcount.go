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
	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/stack"
	"sonde/kernel/tally"
	"sonde/kernel/vfs/ctl"
)

// stackcount: which code calls a function, by the stack of each call; as a tree of callers,
// or folded, a line for each stack, which is the input of flame graphs.
//
//	insmod stackcount target=vfs.Read
//	insmod stackcount target=vfs.Read folded=1
type stackcount struct {
	name     string
	target   string
	interval int
	most     int
	folded   bool
	counts   *tally.Counts
	link     *attach.Link
	mu       sync.Mutex
	programs map[string]uint64 // by the names of a program's functions; guarded by mu
	show     *ctl.Show
}

// depth is how many calls of a stack are told apart.
const depth = 16

func init() {
	module.Register(&module.Module{
		Name: "stackcount",
		Doc:  "count the stacks that a function is called on: target=vfs.Read",
		New:  newStackcount,
	})
}

func newStackcount(name string) *module.Instance {
	c := &stackcount{name: name, most: 10, counts: tally.NewCounts(cpu.Num(), depth, 1024), programs: map[string]uint64{}}
	return &module.Instance{
		Params: module.Params{
			"target":   module.String(&c.target, "function, line, copies, or FILE:FUNCTION of a program").Valid(validPlace),
			"folded":   module.Bool(&c.folded, "print one line per stack, outermost call first"),
			"interval": module.Int(&c.interval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&c.most, "show the n most frequent").Within(1, maxShown),
		},
		Init: c.init,
		Exit: c.exit,
	}
}

func (c *stackcount) called(h *attach.Hit) {
	if h.MayBlock {
		c.calledInProgram(h.Regs)
		return
	}
	var calls [depth]uintptr
	c.counts.Add(h.CPU(), calls[:stack.Callers(h.Regs, calls[:])]...)
}

// calledInProgram does the same for a program. It resolves names at once, because the
// program may be gone later.
func (c *stackcount) calledInProgram(r *amd64.Regs) {
	names := programs.stack(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.programs[strings.Join(names, ";")]++
}

func (c *stackcount) init() error {
	if c.target == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	at, err := attach.ParseSite(c.target)
	if err != nil {
		return err
	}
	// The stack of a program is found, and named, by code that allocates.
	o := &attach.Options{Most: maxCounted, Block: at.Kind == attach.Program}
	if c.link, err = attach.Attach([]attach.Site{at}, c.called, o); err != nil {
		return err
	}
	c.show, err = ctl.NewShow(c.name, time.Duration(c.interval)*time.Second, c.write)
	if err != nil {
		c.link.Close()
	}
	return err
}

func (c *stackcount) exit() {
	c.link.Close()
	c.show.End()
}

// write prints the most frequent stacks.
func (c *stackcount) write(w io.Writer) {
	all := c.all()
	l := c.link.Ledger()
	if text := c.link.Summary(); !c.folded && text != "" {
		fmt.Fprintf(w, "%s: %s\n", c.target, text)
	}
	if !c.folded {
		fmt.Fprintf(w, "%s: %s on %s, %d missed\n", c.target, some(l.Handled, "call"), some(len(all), "stack"), l.Missed()+c.counts.Lost())
	}
	for _, s := range all[:min(len(all), c.most)] {
		names := s.names
		if c.folded {
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

// callers is one stack, the innermost function first.
type callers struct {
	names []string
	count uint64
}

// all returns the stacks of the kernel or of programs, the most frequent first.
func (c *stackcount) all() (all []callers) {
	for _, s := range c.counts.All() {
		all = append(all, callers{stackNames(s.Key), s.Count})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for names, n := range c.programs {
		all = append(all, callers{strings.Split(names, ";"), n})
	}
	slices.SortStableFunc(all, func(a, b callers) int { return cmp.Compare(b.count, a.count) })
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
