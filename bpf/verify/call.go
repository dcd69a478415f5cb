package verify

import (
	"slices"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// callLocal walks the call of a function of the program: it continues inside it.
func (w *walk) callLocal(s *state) {
	to := w.flow.target(w.pc)
	caller := s.top()
	f := w.enter(s, to, w.pc+1)
	for r := 1; r <= 5; r++ {
		f.regs[r] = caller.regs[r]
	}
	s.pc = to
}

// enter begins a frame.
func (w *walk) enter(s *state, entry, back int) *frame {
	if len(s.frames) == maxFrames {
		w.refuse("the call stack of %d frames is too deep: expected at most %d functions in progress", maxFrames+1, maxFrames)
	}
	w.deepen(entry, 0)
	w.calls[[2]int{s.top().entry, entry}] = true
	f := newFrame(len(s.frames), entry)
	f.back = back
	s.frames = append(s.frames, f)
	return f
}

// exit walks the end of a function. It returns true if the path ends.
func (w *walk) exit(s *state) bool {
	f := s.top()
	if f.callback || len(s.frames) == 1 {
		w.last(s, f)
		return true
	}
	result := f.regs[0]
	if result.kind == toStack && int(result.frame) == len(s.frames)-1 {
		w.refuse("R0 holds %s, which points to the stack of the function that ends here: expected a number", &result)
	}
	s.frames = s.frames[:len(s.frames)-1]
	w.leave(s, len(s.frames))
	s.forget(1, 5)
	s.set(0, result)
	s.pc = f.back
	return false
}

// leave forgets pointers to the stack of a function that has ended.
func (w *walk) leave(s *state, frame int) {
	s.each(func(v *reg) {
		if v.kind == toStack && int(v.frame) >= frame {
			*v = reg{}
		}
	})
}

// last walks the end of the program, or of a function that a helper calls.
func (w *walk) last(s *state, f *frame) {
	if w.written(s, 0); f.callback {
		r := w.number(s, 0)
		r.from.mark(decided)
		if r.n.Umax > 1 {
			w.refuse("R0 holds %s at the end of a callback: expected 0 to go on or 1 to stop", r)
		}
	}
	if len(s.refs) > f.refs {
		ref := s.refs[len(s.refs)-1]
		w.refuse("Unreleased reference id=%d alloc_insn=%d: the record reserved at instruction %d is not submitted or discarded on this path",
			ref.id, ref.pc, ref.pc)
	}
	if len(s.refs) < f.refs {
		w.refuse("a callback releases a record that was reserved outside of it: it may be called several times")
	}
}

// callHelper walks the call of a function of the kernel.
func (w *walk) callHelper(s *state, in bpf.Insn) {
	h := w.env.Helpers[in.Imm]
	switch why, named := absent[in.Imm]; {
	case h == nil && named:
		w.unknown("unknown func %s#%d: %s", why[0], in.Imm, why[1])
	case h == nil:
		w.unknown("invalid func unknown#%d: there is no helper with this number for programs of type %s", in.Imm, w.program.Type)
	case h.Types != nil && !slices.Contains(h.Types, w.program.Type):
		w.unknown("invalid func %s#%d: it is not for programs of type %s", h.Name, in.Imm, w.program.Type)
	case h.Unsafe && !w.env.Unsafe:
		w.unknown("invalid func %s#%d: it changes what processes do: sysctl -w kernel.bpf_unsafe=1 allows that", h.Name, in.Imm)
	}
	w.helpers[int(in.Imm)] = true
	if in.Imm == bpf.TailCall {
		w.mayGoOn(s)
	}
	c := call{walk: w, s: s, h: h, number: in.Imm}
	for i, kind := range h.Args {
		if kind != NoArg {
			c.argument(uint8(i+1), kind)
		}
	}
	if old, seen := w.maps[w.pc]; c.spec != nil && seen && old != c.spec {
		w.maps[w.pc] = nil
	} else if c.spec != nil {
		w.maps[w.pc] = c.spec
	}
	c.cost()
	result := c.result()
	s.forget(0, 5)
	if h.Result != Nothing {
		s.set(0, result)
	}
	s.pc++
}

// mayGoOn checks that another program can take the place of this one: nothing is in progress. What the other
// takes is bounded when it is entered.
func (w *walk) mayGoOn(s *state) {
	if len(s.frames) > 1 {
		w.unknown("a tail call in a function of the program: only the program itself can go on as another one")
	}
	if len(s.refs) > 0 {
		w.refuse("tail_call would lead to reference leak: the record reserved at instruction %d is not submitted or discarded before", s.refs[0].pc)
	}
}

// cost adds what the helper takes.
func (c *call) cost() {
	c.s.cost += c.h.Weight + int(words(c.bytes))*c.h.PerWord + int(words(c.values))*perValueWord
	if c.spec != nil && c.spec.Type == bpf.LPMTrie {
		c.s.cost += perNode * int(min(8*c.spec.KeySize, 2*c.spec.MaxEntries)+moreNodes)
	}
	if c.callback == nil {
		return
	}
	if c.spec != nil {
		c.count = uint64(c.spec.MaxEntries)
	}
	body := c.walk.callbackWorst(c)
	each := uint64(body + callbackCall)
	if c.spec != nil {
		each += perEntry
	}
	if limit := uint64(c.walk.env.Limits.Worst); c.count > limit || c.count*each > limit {
		c.walk.refuse("%s calls a function of up to %d instructions up to %d times: expected at most %d instructions in all",
			c.h.Name, body, c.count, limit)
	}
	c.s.cost += int(c.count * each)
}

// A trie has at most a node for each bit of a key on the way to it. A lookup that others disturb goes through some
// once more.
const perNode, moreNodes = 90, 64

func words(bytes uint64) uint64 { return (bytes + 7) / 8 }

// perValueWord is what it takes to copy 8 bytes of a value, in instructions.
const perValueWord = 16

// callbackCall is what it takes to call a callback once, in instructions.
const callbackCall = 40

// perEntry is what it takes to find the next key of a map: a hash has up to four places for each.
const perEntry = 30

// result is what the helper leaves in R0.
func (c *call) result() reg {
	w, s := c.walk, c.s
	switch c.h.Result {
	case ErrorCode:
		return numberOf(scalar.SignedRange(-4095, 0))
	case SizeOrError:
		return numberOf(scalar.SignedRange(-4095, int64(c.size)))
	case Cpu:
		return numberOf(scalar.Range(0, 4095))
	case KernelPointer:
		return pointer(toKernel)
	case ValueOrNull:
		p := pointer(toValue)
		p.spec = c.spec
		if c.spec.Inner != nil {
			p.kind, p.spec = toMap, c.spec.Inner
		}
		p.nullable, p.id = true, w.newID()
		return p
	case RecordOrNull:
		p := pointer(toRecord)
		p.nullable, p.id, p.size = true, w.newID(), int(c.size)
		s.refs = append(s.refs, reference{p.id, w.pc})
		return p
	}
	return numberOf(scalar.Any())
}

// callbackWorst walks the function that the helper calls, and returns its worst case.
func (w *walk) callbackWorst(c *call) int {
	s := c.s
	if c.context.kind == toStack {
		w.forgetStack(s)
	}
	t := s.clone()
	t.cost = 0
	f := w.enter(t, c.callback.size, 0)
	f.callback, f.refs = true, len(t.refs)
	t.pc = c.callback.size
	c.callbackArgs(f)
	pc := w.pc
	worst := w.paths(t)
	w.pc = pc
	return worst
}

// callbackArgs sets what the function is called with.
func (c *call) callbackArgs(f *frame) {
	if c.spec == nil {
		f.regs[1] = numberOf(scalar.Range(0, max(c.count, 1)-1))
		f.regs[2] = c.context
		return
	}
	key, value := pointer(toRecord), pointer(toValue)
	key.size = int(c.spec.KeySize)
	value.spec = c.spec
	f.regs[1] = pointer(toMap)
	f.regs[1].spec = c.spec
	f.regs[2], f.regs[3], f.regs[4] = key, value, c.context
}

// forgetStack has all that is initialized on the stack hold anything, since a callback may run
// any number of times.
func (w *walk) forgetStack(s *state) {
	for _, f := range s.frames {
		f.havoc(-stackSize, stackSize, false)
	}
}
