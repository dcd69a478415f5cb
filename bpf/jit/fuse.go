package jit

import (
	"fmt"
	"slices"

	"sonde/bpf"
)

// A Site is a place in machine code that a program is fused with: instead of being called there, it becomes part of
// what is executed.
type Site struct {
	// Word says what the program finds in the 8 bytes at off of its context.
	Word func(off int32) (Word, error)
	// Table says where a map has its elements.
	Table func(index int32) (Table, error)
	// Resolve is as in View.
	Resolve func(first, second bpf.Insn) (uint64, error)
	// CPU is the offset in GS of the CPU's number, 4 bytes.
	CPU int32
	// Count is the offset in GS of what counts the hits, 8 bytes; Holds that of the word that is not 0 while a program
	// has the CPU, 4 bytes.
	Count, Holds int32
	// Scratch are the registers that the code may change, by their hardware numbers, the best first. Neither AX, DX, SP
	// nor one that Word names may be among them.
	Scratch []uint8
}

// A Word of a context is a register of the place, a number, or a word on the stack.
type Word struct {
	Kind   WordKind
	Reg    uint8  // its hardware number
	Number uint64 // or how many bytes above SP it is
}

// WordKind says where a Word is.
type WordKind uint8

const (
	InRegister WordKind = iota
	IsNumber
	OnStack
)

// A Table has elements of which each CPU has its own. Near is the offset in GS of the first one.
type Table struct {
	Near    int32
	Stride  uint32 // from one element to the next
	Entries uint32
	Hash    *Hash // nil: its elements have numbers
}

// A Hash is how elements are found by keys of 8-byte words. Near is the offset in GS of the address of the first place.
// From a key's home on, the places are looked at in turn: at each is a word with a bit that says that there is an element,
// the key, and the element. The word changes whenever that does.
type Hash struct {
	Words  int    // of a key
	Factor uint64 // a word is added by XOR, and the sum multiplied by this; between words, its high half is added by XOR to it
	Shift  uint8  // by which the sum becomes the number of the home
	Full   byte   // the bit, in the lowest byte of the word
	Value  int32  // where at a place the element is
	Places int    // how many are looked at; there are as many, wherever the home is
}

// Fused is code that runs where the program is hit, and counts the hit first. It continues after its end, can be anywhere,
// calls nothing, does not fault, and changes the flags and those registers that are used. Each of its effects is one
// instruction, on memory of the CPU that executes it, so that an interrupt between them disturbs none; or the CPU is held.
//
// Where the program looks for a key, or loads from an element what it does not just add to, it holds the CPU up to its end:
// an interrupt's programs, which might remove the key or change the element, do not run. If there is no such key, nothing
// has happened, the CPU is still held, and the program is to be called instead.
type Fused struct {
	Code  []byte
	Used  int   // how many registers of Site.Scratch it changes
	Bails []int // where the 4 bytes of the distances of jumps are that lead to a call of the program
}

// Limits of what is fused. A program with more takes so long, or so much room, that a call does not matter.
const (
	mostSteps = 1024 // instructions of all ways through it
	mostCode  = 1024 // bytes
)

// Fuse compiles a program for a site. Each way through the program gets code of its own, so that what a register holds
// is known everywhere: a register of the place, a number, the address of an element. Code is made for what must be
// computed, compared or counted, and for nothing else.
//
// Errors: which instruction cannot be fused, and why.
func Fuse(p *Program, s *Site) (_ *Fused, err error) {
	c := &compiler{p: p, view: &View{Helper: anyHelper, Resolve: anyValue}, helpers: map[int]Helper{}, values: map[int]uint64{}, moved: map[int]int32{}}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if len(c.functions) > 1 {
		return nil, fmt.Errorf("the program has functions, which are called")
	}
	f := &fuser{compiler: c, site: s, late: looksForKeys(p, s)}
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(unfit); !ok {
				panic(r)
			}
		}
	}()
	bails := f.all()
	return &Fused{Code: f.b, Used: f.used, Bails: bails}, nil
}

// looksForKeys reports whether a program has a table in which elements are found by keys.
func looksForKeys(p *Program, s *Site) bool {
	return slices.ContainsFunc(p.Insns, func(in bpf.Insn) bool {
		t, err := Table{}, error(nil)
		if in.IsWide() && in.Src() == bpf.MapIdx {
			t, err = s.Table(in.Imm)
		}
		return err == nil && t.Hash != nil
	})
}

// unfit is the error of Fuse.
type unfit struct{ error }

// anyHelper and anyValue are what prepare needs; which ones fit is seen on the way.
func anyHelper(int, int32) (Helper, error)       { return Helper{Inline: []byte{}}, nil }
func anyValue(_, _ bpf.Insn) (uint64, error)     { return 0, nil }
func (f *fuser) fail(format string, args ...any) { panic(unfit{f.failure(f.pc, format, args...)}) }

// fuser makes the code of a program for a site.
type fuser struct {
	*compiler
	site  *Site
	used  int    // registers of Scratch
	steps int    // instructions so far
	todo  []way  // ways that branch off
	jumps []jump // all that the code has
	late  bool   // the hit is not counted at the beginning, but where the program can bail out no more
	pc    int    // of the instruction
	now   *state // in front of it
	held  uint16 // scratch registers that the instruction uses
}

// A way begins where a jump to it is.
type way struct {
	at int // in the code, where the 4 bytes of the distance are
	pc int
	state
}

// all goes all ways, and returns Fused.Bails. Ways that do nothing more are jumps to the end.
func (f *fuser) all() (bails []int) {
	start := state{}
	if !f.late {
		f.countsHit(&start)
	}
	start.regs[1], start.regs[bpf.R10] = value{kind: isContext}, value{kind: isFrame}
	f.along(0, &start)
	var ends []int
	for len(f.todo) > 0 {
		w := f.todo[0]
		f.todo = f.todo[1:]
		before := len(f.b)
		f.put(0xE9)
		f.imm32(0)
		begins, others := len(f.b), len(f.todo)
		if f.along(w.pc, &w.state); len(f.b) == begins && len(f.todo) == others {
			f.b = f.b[:before]
			ends = append(ends, w.at)
			continue
		}
		f.jumps = append(f.jumps, jump{w.at, begins})
		ends = append(ends, before+1)
	}
	for _, at := range ends {
		f.jumps = append(f.jumps, jump{at, len(f.b)})
	}
	f.b, bails = shorten(f.b, f.jumps)
	return bails
}

// countsHit counts the hit, unless that is done.
func (f *fuser) countsHit(s *state) {
	if !s.counted {
		s.counted = true
		f.at(true, 0xFF, 0, operand{n: int64(f.site.Count)}) // INCQ
	}
}

// holds has the CPU held, or not any more.
func (f *fuser) holds(on bool) {
	if f.now.holding != on {
		f.now.holding = on
		f.at(false, opImm, 0, operand{n: int64(f.site.Holds)}) // MOVL
		f.imm32(int32(pickOp(on, 1, 0)))
	}
}

// along goes one way to its end.
func (f *fuser) along(pc int, s *state) {
	f.now = s
	for {
		f.pc, f.held = pc, 0
		if f.steps++; f.steps > mostSteps || len(f.b) > mostCode {
			f.fail("the ways through the program take more than %d instructions or %d bytes", mostSteps, mostCode)
		}
		in := f.p.Insns[pc]
		next := f.next(pc)
		switch in.Class() {
		case bpf.ALU, bpf.ALU64:
			f.compute(in)
		case bpf.LD:
			f.wide(in)
		case bpf.LDX:
			f.loads(in)
		case bpf.ST, bpf.STX:
			f.stores(in)
		default:
			if in.Operation() == bpf.Exit {
				f.countsHit(f.now)
				f.holds(false)
				return
			}
			next = f.goes(in, next)
		}
		for r := range f.now.regs {
			if f.after[pc]&(1<<r) == 0 && r != bpf.R10 {
				f.now.regs[r] = value{}
			}
		}
		pc = next
	}
}

// goes compiles a jump or a call, and returns where this way continues.
func (f *fuser) goes(in bpf.Insn, next int) int {
	to := next + in.Distance()
	switch {
	case in.Operation() == bpf.Call:
		f.calls(in, next)
		return next
	case to < next:
		f.fail("the program has a loop")
	case in.Operation() == bpf.Ja:
		return to
	}
	if taken, ok := f.decided(in); ok {
		if taken {
			return to
		}
		return next
	}
	f.compares(in)
	taken := f.now.clone()
	taken.learns(in, true)
	f.now.learns(in, false)
	f.branch2(conditions[in.Operation()>>4], to, &taken)
	return next
}

// branch2 puts a jump to a way that begins at pc with a state.
func (f *fuser) branch2(condition, pc int, s *state) {
	f.put(0x0F, 0x80|byte(condition))
	f.imm32(0)
	f.todo = append(f.todo, way{at: len(f.b) - 4, pc: pc, state: s.clone()})
}

// state is what is known in front of an instruction.
type state struct {
	regs    [bpf.NumRegs]value
	frame   []stacked
	counted bool // the hit
	holding bool // the CPU
}

func (s *state) clone() state {
	c := *s
	c.frame = slices.Clone(s.frame)
	return c
}

// stacked is what some bytes of the stack hold.
type stacked struct {
	off  int64
	size int
	value
}

// at returns what is known of bytes of the stack.
func (s *state) at(off int64, size int) (value, bool) {
	for _, w := range s.frame {
		if w.off == off && w.size == size {
			return w.value, true
		}
	}
	return value{}, false
}

// set notes what bytes of the stack hold.
func (s *state) set(off int64, size int, v value) {
	s.frame = slices.DeleteFunc(s.frame, func(w stacked) bool { return w.off < off+int64(size) && off < w.off+int64(w.size) })
	s.frame = append(s.frame, stacked{off, size, v})
}

// holds counts in how many of the program's registers and words of its stack a register of the place is needed.
func (s *state) holds(r reg) (n int) {
	each := func(v *value) {
		if v.needs(r) {
			n++
		}
	}
	for i := range s.regs {
		each(&s.regs[i])
	}
	for i := range s.frame {
		each(&s.frame[i].value)
	}
	return n
}
