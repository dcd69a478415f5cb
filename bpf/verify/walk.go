package verify

import (
	"runtime"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// walk is the walk over a program.
type walk struct {
	program *bpf.Program
	env     *Env
	context *Context
	flow    *flow
	log     logger

	pc   int // the instruction that is walked
	ids  int32
	todo []path
	open [][]*node // by instruction, the states on the path that is walked
	done [][]*node // by instruction, finished states

	steps, states, peak, bytes, values int

	depth   map[int]int     // by function, bytes of stack
	calls   map[[2]int]bool // caller and called
	ctx     map[int]CtxLoad
	probes  map[int]bool
	classes map[int]kind
	helpers map[int]bool
	maps    map[int]*bpf.MapSpec // by PC of a call: the map that it was given; nil: several
	indices map[int]int64        // by PC of a call: the key of 4 bytes that it was given; -1: several
}

// node is a state that is kept, or the start of a walk. It is finished when no path from it is
// left to walk.
type node struct {
	parent *node
	state  *state
	left   int // paths from here that are not walked to their ends
	worst  int // instructions of the longest path from here
	hits   int // paths that were pruned here
	since  int // step at which it was kept
}

// path is where the walk has to continue.
type path struct {
	state *state
	node  *node
	from  int // the branch it comes from
	mark  int // the length of the log there
}

// paths walks all paths from a state, and returns how many instructions the longest executes.
func (w *walk) paths(s *state) int {
	base := len(w.todo)
	start := &node{state: s.clone()}
	w.later(s, start, -1)
	for len(w.todo) > base {
		p := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.bytes -= p.state.bytes()
		w.log.resume(p, w)
		w.follow(p.state, p.node)
	}
	return start.worst
}

// later has a path walked when those before it are.
func (w *walk) later(s *state, n *node, from int) {
	n.left++
	w.bytes += s.bytes()
	w.todo = append(w.todo, path{s, n, from, w.log.len()})
}

// follow walks one path to its end.
func (w *walk) follow(s *state, n *node) {
	for s != nil {
		w.pc = s.pc
		if w.flow.points[s.pc] {
			if n = w.keep(s, n); n == nil {
				return
			}
		}
		w.step(s)
		next, other, ends := w.instruction(s)
		w.log.after(w, next)
		if ends {
			w.end(n, s.cost)
			return
		}
		if next == nil {
			next, other = other, nil
		}
		if other != nil {
			w.later(other, n, w.pc)
		}
		s = next
	}
	w.finish(n) // no number is left that would lead further
}

// step counts an instruction, and holds the limits.
func (w *walk) step(s *state) {
	w.steps++
	s.cost++
	limits := &w.env.Limits
	switch {
	case w.steps > limits.Steps:
		w.exceed("BPF program is too large: %d instructions were walked, which is the limit; %s", limits.Steps, w.crowd())
	case w.bytes > limits.Memory:
		w.exceed("the states of the walk take %d bytes, more than the limit of %d; %s", w.bytes, limits.Memory, w.crowd())
	case w.values > limits.Values:
		w.exceed("the walk compares and keeps more than %d values; %s", limits.Values, w.crowd())
	case s.cost > limits.Worst:
		w.refuse("a path executes %d instructions to here, helpers by weight: expected at most %d", s.cost, limits.Worst)
	}
	if w.steps%1024 == 0 {
		runtime.Gosched()
	}
}

// instruction walks one instruction. Where two paths continue, next is walked first.
func (w *walk) instruction(s *state) (next, other *state, ends bool) {
	in := w.flow.insns[s.pc]
	w.log.before(w, s)
	switch in.Class() {
	case bpf.JMP, bpf.JMP32:
		return w.jump(s, in)
	case bpf.ALU, bpf.ALU64:
		w.arithmetic(s, in)
	case bpf.LDX:
		w.load(s, in)
	case bpf.LD:
		w.wide(s, in)
	case bpf.ST:
		w.store(s, in)
	case bpf.STX:
		if in.Mode() == bpf.Atomic {
			w.atomic(s, in)
		} else {
			w.store(s, in)
		}
	}
	s.pc += w.flow.length(s.pc)
	return s, nil, false
}

func (w *walk) jump(s *state, in bpf.Insn) (next, other *state, ends bool) {
	switch in.Operation() {
	case bpf.Exit:
		return s, nil, w.exit(s)
	case bpf.Ja:
		s.pc = w.flow.target(s.pc)
		return s, nil, false
	case bpf.Call:
		w.call(s, in)
		return s, nil, false
	}
	taken, not := w.branch(s, in)
	return not, taken, false
}

func (w *walk) call(s *state, in bpf.Insn) {
	switch in.Src() {
	case bpf.CallHelper:
		w.callHelper(s, in)
	case bpf.CallLocal:
		w.callLocal(s)
	default:
		w.refuse("calling kernel function id:%d is not allowed: there are helpers only", in.Imm)
	}
}

// wide walks the load of a 64-bit immediate.
func (w *walk) wide(s *state, in bpf.Insn) {
	w.notR10(in.Dst())
	second := w.flow.insns[s.pc+1]
	switch in.Src() {
	case bpf.Number:
		s.set(in.Dst(), constant(bpf.Wide(in, second)))
	case bpf.Function:
		v := pointer(function)
		v.size = w.flow.target(s.pc)
		s.set(in.Dst(), v)
	case bpf.MapIdx, bpf.MapIdxVal:
		s.set(in.Dst(), w.mapValue(in, second))
	default:
		w.refuse("this refers to something that a loader has to find: expected a map by its index, map[idx:N]")
	}
}

func (w *walk) mapValue(in, second bpf.Insn) reg {
	maps := w.program.Maps
	if in.Imm < 0 || int(in.Imm) >= len(maps) {
		w.refuse("it refers to map %d: the program has %d maps", in.Imm, len(maps))
	}
	spec := maps[in.Imm]
	if in.Src() == bpf.MapIdx {
		p := pointer(toMap)
		p.spec = spec
		return p
	}
	if spec.Type != bpf.Array || spec.MaxEntries != 1 {
		w.refuse("it refers to a value of map %s, of type %s with %d entries: expected an array with one", spec.Name, spec.Type, spec.MaxEntries)
	}
	if second.Imm < 0 || uint32(second.Imm) >= spec.ValueSize {
		w.refuse("it refers to byte %d of the value of map %s, which has %d bytes", second.Imm, spec.Name, spec.ValueSize)
	}
	p := pointer(toValue)
	p.spec, p.n = spec, scalar.Const(uint64(second.Imm))
	return p
}

// deepen notes that a function uses so many bytes of stack.
func (w *walk) deepen(entry, bytes int) { w.depth[entry] = max(w.depth[entry], (bytes+7)&^7) }
