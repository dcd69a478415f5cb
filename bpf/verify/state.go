package verify

import (
	"slices"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

const (
	stackSize = 512
	maxFrames = 8
	wordSize  = 8
)

// state is what is known before an instruction.
type state struct {
	pc     int
	cost   int // instructions executed from the start of the walk
	frames []*frame
	refs   []reference // ring records that must be released
}

// reference is a ring record that was reserved.
type reference struct {
	id int32
	pc int // of the call
}

// frame is a function in progress.
type frame struct {
	regs     [bpf.NumRegs]reg
	slots    [stackSize / wordSize]*slot // by word: slots[0] lies just below R10; nil: not written. Slots are not changed
	entry    int                         // the first instruction of the function
	back     int                         // where it returns to
	refs     int                         // of a callback: how many records were reserved at its call
	callback bool
	written  uint16 // registers written since a state was kept
	changed  uint16 // registers written by this instruction, and words, for the log
	words    uint64
}

// slot is a word of stack. Byte 0 has the lowest address.
type slot struct {
	kinds  [wordSize]content
	spills [wordSize]*spill // by first byte
	from   *origin          // of the bytes that no spilled value has
}

type content uint8

const (
	nothing content = iota
	misc
	zero
	spilled
)

// spill is a value on the stack.
type spill struct {
	reg
	bytes int
}

func newFrame(index int, entry int) *frame {
	f := &frame{entry: entry}
	f.regs[bpf.R10] = reg{kind: toStack, frame: int8(index), n: scalar.Const(0), from: &origin{}}
	return f
}

func (s *state) top() *frame { return s.frames[len(s.frames)-1] }

// clone returns a copy that shares nothing that is changed.
func (s *state) clone() *state {
	c := *s
	c.frames = make([]*frame, len(s.frames))
	for i, f := range s.frames {
		g := *f
		c.frames[i] = &g
	}
	c.refs = slices.Clone(s.refs)
	return &c
}

// frameBytes is about what a frame takes, with the origins of its values.
const frameBytes = 3 << 10

// bytes estimates how much memory the state takes.
func (s *state) bytes() int { return len(s.frames) * frameBytes }

// keep gives each value an origin of its own, which the state and its copies have from now on. It returns how
// many values it has copied.
func (s *state) keep() (values int) {
	for _, f := range s.frames {
		f.written = 0
		for i := range f.regs {
			f.regs[i].keep()
		}
		for i, sl := range f.slots {
			if sl == nil {
				continue
			}
			values++
			c := *sl
			c.from = &origin{kept: true, from: [2]*origin{sl.from}}
			for j, sp := range sl.spills {
				if sp != nil {
					d := *sp
					d.keep()
					c.spills[j] = &d
				}
			}
			f.slots[i] = &c
		}
	}
	return values
}

func (r *reg) keep() {
	if r.kind != unset {
		r.from = &origin{kept: true, from: [2]*origin{r.from}}
	}
}

// each calls f for each value. What f changes is kept.
func (s *state) each(f func(r *reg)) {
	for _, fr := range s.frames {
		for i := range fr.regs {
			f(&fr.regs[i])
		}
		for i, sl := range fr.slots {
			if sl != nil {
				fr.slots[i] = sl.each(f)
			}
		}
	}
}

// each returns the slot with its values changed by f; it is the same slot if none was.
func (sl *slot) each(f func(r *reg)) *slot {
	c := sl
	for i, sp := range sl.spills {
		if sp == nil {
			continue
		}
		d := *sp
		if f(&d.reg); d != *sp {
			if c == sl {
				copied := *sl
				c = &copied
			}
			c.spills[i] = &d
		}
	}
	return c
}

// set writes a register of the function in progress.
func (s *state) set(r uint8, v reg) {
	f := s.top()
	if v.from == nil {
		v.from = &origin{}
	}
	f.regs[r] = v
	f.written |= 1 << r
	f.changed |= 1 << r
}

// forget has registers count as not written.
func (s *state) forget(first, last int) {
	for r := first; r <= last; r++ {
		s.top().regs[r] = reg{}
	}
}
