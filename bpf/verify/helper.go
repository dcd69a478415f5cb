package verify

import (
	"fmt"
	"slices"

	"sonde/bpf"
)

// call is the call of a helper that is walked.
type call struct {
	*walk
	s        *state
	h        *Helper
	number   int32
	spec     *bpf.MapSpec // the map that it was given
	memory   access       // the memory before a size
	pointsTo *reg         // what it lies in; nil: there is none, as it may be null
	size     uint64       // the largest size
	bytes    uint64       // of all that it is given, but values
	values   uint64       // bytes of values: they are copied, and not compared with anything
	count    uint64
	callback *reg
	context  reg
}

// argument checks one of R1 to R5.
func (c *call) argument(r uint8, kind ArgKind) {
	v := c.written(c.s, r)
	switch kind {
	case Number, KernelOrNumber, Count:
		c.anyNumber(r, v, kind)
	case MapArg:
		c.mapArg(r, v)
	case Key:
		c.bytes += uint64(c.spec.KeySize)
		c.fixed(r, uint64(c.spec.KeySize), "the key", false)
		c.noteIndex(r)
	case Value, ValueOut:
		c.values += uint64(c.spec.ValueSize)
		c.fixed(r, uint64(c.spec.ValueSize), "the value", kind == ValueOut)
	case WordOut:
		c.fixed(r, 8, "a word", true)
	case Memory, MemoryOrNull, MemoryOut, MemoryOutNull:
		c.pointer(r, v, kind)
	case Size, SizeOrZero:
		c.sized(r, v, kind)
	case KnownSize:
		c.knownSize(r, v)
	case ContextArg:
		c.expect(r, v, v.kind == toContext && v.isPlain(), "ctx")
	case Record:
		c.releaseRecord(r, v)
	case Callback:
		c.expect(r, v, v.kind == function, "a function of the program")
		c.callback = v
		v.from.mark(decided)
	case StackOrNull:
		c.expect(r, v, v.kind == toStack || v.isConst(0), "fp or 0")
		v.from.mark(decided)
		c.context = *v
	case String:
		c.text(r, v)
	}
}

// expect refuses the argument unless it is ok.
func (c *call) expect(r uint8, v *reg, ok bool, what string) {
	if !ok {
		c.refuse("R%d type=%s expected=%s: it holds %s, and %s wants %s there", r, v.name(), what, v, c.h.Name, what)
	}
}

func (c *call) anyNumber(r uint8, v *reg, kind ArgKind) {
	if kind == KernelOrNumber && v.kind == toKernel {
		return
	}
	if kind == KernelOrNumber && (v.kind == toStack || v.kind == toValue || v.kind == toRecord) && !v.nullable {
		v.from.mark(decided)
		return // it is read like any address
	}
	if kind == KernelOrNumber && v.kind == toContext && c.program.Type == bpf.Tracepoint {
		return // so is a record; registers are not where the context seems to be
	}
	c.expect(r, v, v.kind == number, "scalar")
	if kind == Count {
		v.from.mark(decided)
		c.count = v.n.Umax
	}
}

func (c *call) mapArg(r uint8, v *reg) {
	c.expect(r, v, v.kind == toMap && !v.nullable, "map_ptr")
	v.from.mark(decided)
	if !slices.Contains(c.h.Maps, v.spec.Type) {
		c.refuse("cannot pass map_type %d into func %s#%d: R%d holds map %s of type %s", v.spec.Type, c.h.Name, c.number, r, v.spec.Name, v.spec.Type)
	}
	if c.h.Changes && v.spec.Flags&bpf.ReadOnlyProgram != 0 {
		c.refuse("write into map forbidden: R%d holds map %s, which programs may only read, and %s changes it", r, v.spec.Name, c.h.Name)
	}
	c.spec = v.spec
	if c.h.Words == 0 {
		return
	}
	if v.spec.ValueSize < 8*c.h.Words {
		c.refuse("R%d holds map %s with values of %d bytes: expected at least %d for %s", r, v.spec.Name, v.spec.ValueSize, 8*c.h.Words, c.h.Name)
	}
	c.values += uint64(v.spec.ValueSize) // which it may have to add
}

// fixed checks memory whose size the map tells.
func (c *call) fixed(r uint8, size uint64, what string, out bool) {
	c.memory = access{r: r, write: out}
	c.pointsTo = &c.s.top().regs[r]
	c.touch(size, size, fmt.Sprintf("a helper's access to %s of %d bytes", what, size))
}

// noteIndex notes which element of an array the call is about, if all paths say the same.
func (c *call) noteIndex(r uint8) {
	if c.spec.KeySize != indexSize {
		return
	}
	known, seen := c.indices[c.pc]
	if seen && known < 0 {
		return
	}
	if p := &c.s.top().regs[r]; p.kind == toStack && p.n.IsConst() {
		v, _ := c.s.frames[p.frame].load(int(p.n.Smin), indexSize)
		if v.kind == number && v.n.IsConst() && (!seen || uint64(known) == v.n.Bits.Value) {
			v.from.mark(decided)
			c.indices[c.pc] = int64(v.n.Bits.Value)
			return
		}
	}
	c.indices[c.pc] = -1
}

// indexSize is how many bytes the index of an array has.
const indexSize = 4

func (c *call) pointer(r uint8, v *reg, kind ArgKind) {
	c.memory = access{r: r, write: kind == MemoryOut || kind == MemoryOutNull}
	c.pointsTo = v
	if v.isConst(0) && (kind == MemoryOrNull || kind == MemoryOutNull) {
		v.from.mark(decided)
		c.pointsTo = nil
	}
}

// sized checks the size after a pointer, and the memory that both describe.
func (c *call) sized(r uint8, v *reg, kind ArgKind) {
	v = c.walk.number(c.s, r)
	v.from.mark(decided)
	switch {
	case v.n.Smin < 0:
		c.refuse("R%d min value is negative, either use unsigned or 'var &= const': it holds %s, and is a size for %s", r, v, c.h.Name)
	case v.n.Umin == 0 && kind == Size:
		c.refuse("R%d invalid zero-sized read: it holds %s, and %s wants a size of at least 1 there", r, v, c.h.Name)
	case v.n.Umax >= maxOffset:
		c.refuse("R%d unbounded memory access, make sure to bounds check any such access: it holds %s, and is a size for %s", r, v, c.h.Name)
	}
	c.size = v.n.Umax
	c.bytes += v.n.Umax
	if c.pointsTo == nil {
		if v.n.Umax != 0 {
			c.refuse("R%d holds %s: expected the size 0 behind a pointer that is 0", r, v)
		}
		return
	}
	c.touch(v.n.Umin, v.n.Umax, fmt.Sprintf("a helper's access to %d bytes", v.n.Umax))
}

// touch checks memory of lo to hi bytes that the helper reads or writes.
func (c *call) touch(lo, hi uint64, what string) {
	c.memory.size, c.memory.what = int(min(hi, maxOffset)), what
	p := c.base(c.s, c.memory)
	if p.kind == toContext || p.kind == toKernel {
		c.refuse("R%d type=%s expected=fp, map_value, ringbuf_mem: it holds %s, and %s wants memory there", c.memory.r, p.name(), p, c.h.Name)
	}
	if p.kind != toStack {
		return
	}
	f := c.s.frames[p.frame]
	first, last := c.memory.span(p)
	reach := int(last-first) + c.memory.size
	if c.memory.write {
		surely := 0
		if first == last {
			surely = int(lo)
			f.havoc(int(first), surely, true)
		}
		f.havoc(int(first)+surely, reach-surely, false)
		return
	}
	if why := f.readable(int(first), reach); why != "" {
		c.refuse("R%d holds %s: invalid indirect read from stack: %s, and is part of %s", c.memory.r, p, why, what)
	}
}

func (c *call) knownSize(r uint8, v *reg) {
	c.expect(r, v, v.kind == number && v.n.IsConst(), "a known constant")
	v.from.mark(decided)
	if v.n.Umin == 0 || v.n.Umin >= maxOffset {
		c.refuse("R%d holds %s: expected a record of 1 to %d bytes", r, v, maxOffset-1)
	}
	c.size = v.n.Umin
}

// releaseRecord takes the record away from the program, with all pointers into it.
func (c *call) releaseRecord(r uint8, v *reg) {
	c.expect(r, v, v.kind == toRecord && !v.nullable && v.isPlain() && v.id != 0, "ringbuf_mem, as it was reserved")
	v.from.mark(decided)
	if !c.s.release(v.id) {
		c.refuse("R%d holds %s, which was released before", r, v)
	}
	id := v.id
	c.s.each(func(v *reg) {
		if v.kind == toRecord && v.id == id {
			*v = reg{}
		}
	})
}

// text checks a string. It must lie on the stack, since the byte that ends it has to be seen.
func (c *call) text(r uint8, v *reg) {
	c.memory = access{r: r}
	c.expect(r, v, v.kind == toStack && v.n.IsConst() && v.n.Smin >= -stackSize && v.n.Smin < 0, "fp, where the string lies")
	size := c.terminated(v)
	c.bytes += size
	c.touch(size, size, fmt.Sprintf("a helper's access to a string of %d bytes", size))
}

// terminated returns how many bytes the string on the stack has, with the byte at its end.
func (c *call) terminated(v *reg) uint64 {
	f := c.s.frames[v.frame]
	for off := int(v.n.Smin); off < 0; off++ {
		word, b := at(off)
		if sl := f.slots[word]; sl != nil && sl.byteIsZero(b) {
			sl.decide()
			return uint64(off-int(v.n.Smin)) + 1
		}
	}
	c.refuse("the string at %s has no byte that is 0 at its end", v)
	return 0
}

// byteIsZero tells whether a byte is known to be 0.
func (sl *slot) byteIsZero(b int) bool {
	if i, sp := sl.spilledAt(b); sp != nil {
		return sp.kind == number && sp.n.IsConst() && sp.n.Bits.Value>>(8*(b-i))&0xff == 0
	}
	return sl.kinds[b] == zero
}

// decide notes that what is known of the bytes mattered.
func (sl *slot) decide() {
	sl.from.mark(decided)
	for _, sp := range sl.spills {
		if sp != nil {
			sp.from.mark(decided)
		}
	}
}
