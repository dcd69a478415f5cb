//go:build tamago

package examples

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/stack"
	"sonde/kernel/tally"
	"sonde/probe/attach"
)

// stackcount: which code calls a function, by the stack of each call; as a tree of callers,
// or folded, a line for each stack, which is the input of flame graphs.
//
//	insmod stackcount target=vfs.Read
//	insmod stackcount target=vfs.Read folded=1
type stackcount struct {
	ready
	most     int
	folded   bool
	counts   *tally.Counts
	mu       sync.Mutex
	programs map[string]uint64 // by the names of a program's functions; guarded by mu
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
	c := &stackcount{ready: ready{name: name}, most: 10, counts: tally.NewCounts(cpu.Num(), depth, 1024), programs: map[string]uint64{}}
	return c.instance("function, line, copies, or FILE:FUNCTION of a program", attach.ParseSite, module.Params{
		"folded": module.Bool(&c.folded, "print one line per stack, outermost call first"),
		"n":      module.Int(&c.most, "show the n most frequent").Within(1, maxShown),
	}, c.init)
}

func (c *stackcount) called(h *attach.Hit) {
	if h.MayBlock {
		c.calledInProgram(h.Regs)
		return
	}
	var calls [depth]uintptr
	n := stack.Callers(h.Regs, calls[:])
	if n == 0 && h.Regs.CS&3 == 0 { // a tick came where no goroutine's stack is in use
		calls[0], n = uintptr(h.Regs.IP)+1, 1
	}
	c.counts.Add(h.CPU(), calls[:n]...)
}

// calledInProgram does the same for a program. It resolves names at once, because the
// program may be gone later.
func (c *stackcount) calledInProgram(r *amd64.Regs) {
	names := programs.stack(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.programs[strings.Join(names, ";")]++
}

func (c *stackcount) init(at attach.Site) error {
	// The stack of a program is found, and named, by code that allocates.
	return c.start(c.called, &attach.Options{Most: maxCounted, Block: at.Kind == attach.Program}, c.write, at)
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
	sort.SliceStable(all, func(i, j int) bool { return all[i].count > all[j].count })
	return all
}

// stackNames returns the functions of return addresses. A tick in a program leaves none.
func stackNames(calls []uintptr) (names []string) {
	if len(calls) == 0 {
		return []string{"(a program)"}
	}
	for _, pc := range calls {
		name := "?"
		if fn := runtime.FuncForPC(pc - 1); fn != nil {
			name = fn.Name()
		}
		names = append(names, name[strings.LastIndexByte(name, '/')+1:])
	}
	return names
}
