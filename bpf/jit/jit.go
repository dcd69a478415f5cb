package jit

import (
	"fmt"
	"sort"

	"sonde/bpf"
)

// Program is what is compiled: instructions that a verifier has accepted, and what it found.
type Program struct {
	Insns []bpf.Insn
	// Stack is how many bytes of stack each function uses, in the order of their first
	// instructions. The first function begins at 0; the others are what is called, or whose
	// address is loaded.
	Stack []int
	Ctx   []CtxLoad
}

// CtxLoad is a load from the context.
type CtxLoad struct {
	PC  int
	Off int32 // of what is loaded, in the context
}

// View is what a program sees of its surroundings.
type View struct {
	// Context returns where in the context the size bytes lie that the program loads at off.
	// nil: where the program says.
	Context func(off int32, size int) (int32, error)
	// Helper returns what the call of a helper at pc does. nil: there are no helpers.
	Helper func(pc int, number int32) (Helper, error)
	// Resolve returns the number that a 64-bit load of a map or variable loads. nil: there are none.
	Resolve func(first, second bpf.Insn) (uint64, error)
	// CPU is the offset in GS of the word that helpers get as the CPU's.
	CPU int32
	// Enter and Leave are machine code that is put at the entry and before each exit of the first
	// function. Enter finds AX and BX as the caller has set them, and SP at the return address; Leave finds
	// the result in AX. Both leave all registers as they are, but BX, DX, R11 and the flags.
	Enter, Leave []byte
	// Credit is what the programs may take that this one continues as.
	Credit uint32
}

// Helper is what a program's call of a helper does.
type Helper struct {
	// Entry is the address of a Go function. Its arguments are R1 to R5, and then the three words
	// below; a word that it does not want is undefined.
	Entry              uintptr
	Context, CPU, Link bool
	// Inline, if not nil, is machine code that is put in the place of the call. It finds R1 to R5
	// in their registers, leaves R0 in AX, can change these, DX, R11 and the flags, and must work
	// at any address.
	Inline []byte
	// Slow is where in Inline the 4 bytes of the distances of jumps are that lead to a call of Entry
	// after all. Up to there, R1 to R5 stay as they are.
	Slow []int
	// Unread are those of R1 to R5 that Inline does not read, as a set of bits by their numbers.
	Unread uint16
	// NotZero says that R0 is not 0 after Inline.
	NotZero bool
	// Tail says that the program continues as the one that is entered at R0, if that is not 0. Nothing but the
	// program itself can do so, not its functions.
	Tail bool
	// Cut is machine code for a program that would, and has not the credit for it. It finds the registers as
	// Inline has left them, and can change what that can.
	Cut []byte
}

// Image is a compiled program.
type Image struct {
	Code []byte // its entry is at 0
	// Offsets is where in Code each instruction begins. The second half of a 64-bit load, and the
	// end of the program as one more instruction, have an offset, too.
	Offsets []int
	// Stack is how many bytes of stack a call of the code takes at most below the return address,
	// helpers and what they call not counted.
	Stack int
	// Tail is where in Code a tail call enters.
	Tail int

	functions []function
	starts    []int // where in Code each function begins, before its first instruction
	thunks    int   // where in Code the entries for helpers begin
}

// PC returns which instruction the machine code at off belongs to: the first one of a function
// if it makes the function's frame. ok is false for what is no instruction's.
func (i *Image) PC(off int) (pc int, ok bool) {
	if off < 0 || off >= i.thunks {
		return 0, false
	}
	f := sort.Search(len(i.starts), func(n int) bool { return i.starts[n] > off }) - 1
	first, end := i.functions[f].entry, i.functions[f].end
	n := sort.Search(end-first, func(n int) bool { return i.Offsets[first+n] > off })
	return first + max(n-1, 0), true
}

// Compile compiles a program, whose code is to lie at the address at.
//
// Errors: which instruction cannot be compiled, and why.
func Compile(p *Program, at uintptr, view *View) (*Image, error) {
	c := &compiler{p: p, at: at, view: view, file: registers, helpers: map[int]Helper{}, values: map[int]uint64{}, moved: map[int]int32{}}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	for pass := 0; ; pass++ {
		c.emit()
		if !c.relax(pass == maxPasses) {
			break
		}
	}
	n := len(p.Insns)
	return &Image{
		Code: c.b, Offsets: c.labels[:n+1], Stack: c.stack(), Tail: c.tail, functions: c.functions,
		starts: c.labels[n+1 : n+1+len(c.functions)], thunks: c.labels[n],
	}, nil
}

// compiler emits a program several times, until all jumps have their lengths.
type compiler struct {
	code
	p         *Program
	at        uintptr
	view      *View
	file      [bpf.NumRegs]reg // which register each one of the program is
	functions []function
	helpers   map[int]Helper
	values    map[int]uint64 // what 64-bit loads load
	moved     map[int]int32  // by how much loads from the context go elsewhere
	inFrame   bool           // some helper wants the context or the link
	tails     bool           // some call is a tail call
	tail      int            // where one enters
	after     []uint16       // by instruction: the registers that are read after it
	target    []bool         // by instruction: a jump leads there

	labels []int  // offsets: of the instructions, their end, the functions, their thunks
	sites  []site // of this pass, in the order of the code
	long   []bool // which sites take 4 bytes of distance
}

// Labels that are not instructions.
func (c *compiler) start(function int) int { return len(c.p.Insns) + 1 + function }
func (c *compiler) thunk(function int) int { return c.start(len(c.functions)) + function }

// emit emits the whole program.
func (c *compiler) emit() {
	c.b, c.sites = c.b[:0], c.sites[:0]
	for i := range c.functions {
		c.labels[c.start(i)] = len(c.b)
		c.enter(&c.functions[i])
		c.body(&c.functions[i])
	}
	c.labels[len(c.p.Insns)] = len(c.b)
	for i := range c.functions {
		c.labels[c.thunk(i)] = len(c.b)
		if c.functions[i].loaded {
			c.enterFromHelper(i)
		}
	}
}

func (c *compiler) body(f *function) {
	for pc := f.entry; pc < f.end; pc++ {
		c.labels[pc] = len(c.b)
		in := c.p.Insns[pc]
		switch {
		case c.dead(pc, in):
			if in.IsWide() {
				pc++
				c.labels[pc] = len(c.b)
			}
			continue
		case c.sums(pc, in):
			c.labels[pc+1], c.labels[pc+2] = len(c.b), len(c.b)
			pc += 2
			continue
		}
		switch in.Class() {
		case bpf.ALU, bpf.ALU64:
			c.arithmetic(in)
		case bpf.JMP, bpf.JMP32:
			c.branch(f, pc, in)
		case bpf.LDX:
			c.load(pc, in)
		case bpf.ST, bpf.STX:
			c.store(in)
		case bpf.LD:
			c.loadWide(pc, in)
			pc++
			c.labels[pc] = len(c.b)
		}
	}
}

// failure returns the error of the instruction at pc.
func (c *compiler) failure(pc int, format string, args ...any) error {
	text, err := bpf.Text(c.p.Insns, pc)
	if err != nil {
		text = err.Error()
	}
	return fmt.Errorf("instruction %d (%s): %w", pc, text, fmt.Errorf(format, args...))
}
