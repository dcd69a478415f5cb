package verify

import (
	"cmp"
	"maps"
	"slices"

	"sonde/bpf"
)

// maxInsns is how many instructions a program may have.
const maxInsns = 65536

// Check tells whether the program is safe to execute where env says. It keeps a reference to the
// instructions, and does not change them.
//
// Context: goroutine; takes as long as Limits let it, and yields the CPU on the way.
// Errors:  *Error. TooBig tells that a limit of the walk was reached.
func Check(p *bpf.Program, env *Env) (*Checked, error) {
	e := *env
	e.Limits = env.Limits.orDefaults()
	w := &walk{program: p, env: &e, context: cmp.Or(env.Context, env.Contexts[p.Type]),
		depth: map[int]int{}, calls: map[[2]int]bool{}, ctx: map[int]CtxLoad{}, probes: map[int]bool{},
		classes: map[int]kind{}, helpers: map[int]bool{}, maps: map[int]*bpf.MapSpec{}, indices: map[int]int64{}}
	w.log.level = env.LogLevel
	c, fault := w.check()
	if fault == nil {
		w.log.summary(w)
		c.Log = w.log.String()
		return c, nil
	}
	err := newError(p, *fault)
	w.log.refused(fault.why)
	w.log.summary(w)
	err.Log = w.log.String()
	return nil, err
}

func (w *walk) check() (c *Checked, fault *refusal) {
	switch {
	case len(w.program.Insns) > maxInsns:
		return nil, &refusal{why: "the program has " + itoa(len(w.program.Insns)) + " instructions: expected at most " + itoa(maxInsns), tooBig: true}
	case w.context == nil:
		return nil, &refusal{why: "programs of type " + itoa(int(w.program.Type)) + " are not known here", invalid: true}
	}
	if w.flow, fault = newFlow(w.program.Insns); fault != nil {
		return nil, fault
	}
	w.open, w.done = make([][]*node, len(w.program.Insns)), make([][]*node, len(w.program.Insns))
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			c, fault = nil, &f
		}
	}()
	return w.run(), nil
}

func (w *walk) run() *Checked {
	s := &state{frames: []*frame{newFrame(0, 0)}}
	s.top().regs[1] = pointer(toContext)
	w.deepen(0, 0)
	worst := w.paths(s)
	c := &Checked{Program: w.program, Insns: w.program.Insns, Worst: worst, Steps: w.steps, States: w.peak, Stack: w.stack(),
		Frames: w.frames(), Maps: w.always(), Indices: w.indices, Probes: ascending(w.probes), Calls: ascending(w.helpers)}
	for _, pc := range ascending(w.ctx) {
		c.Ctx = append(c.Ctx, w.ctx[pc])
	}
	return c
}

// ascending returns the keys of a map. All are of one type, so that the kernel has one function that sorts.
func ascending[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// frames returns the bytes of stack of each function.
func (w *walk) frames() (bytes []int) {
	for _, entry := range w.flow.starts {
		bytes = append(bytes, w.depth[entry])
	}
	return bytes
}

// always returns the maps of the calls that have the same one on every path.
func (w *walk) always() map[int]*bpf.MapSpec {
	maps.DeleteFunc(w.maps, func(_ int, s *bpf.MapSpec) bool { return s == nil })
	return w.maps
}

// stack returns the bytes of the chain of calls that needs most. Functions cannot call themselves
// in a program that ends, so the chains are finite; the walk has seen them all.
func (w *walk) stack() int {
	known := map[[2]int]int{}
	var below func(entry, frames int) int
	below = func(entry, frames int) int {
		key := [2]int{entry, frames}
		if n, ok := known[key]; ok {
			return n
		}
		most := 0
		for c := range w.calls {
			if c[0] == entry && frames < maxFrames {
				most = max(most, below(c[1], frames+1))
			}
		}
		known[key] = w.depth[entry] + most
		return known[key]
	}
	total := below(0, 1)
	if total > stackSize {
		w.pc = 0
		w.refuse("combined stack size of calls is %d bytes: expected at most %d on any chain of calls", total, stackSize)
	}
	return total
}
