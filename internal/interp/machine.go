// Package interp executes eBPF programs over memory that it checks: at each access that the bytes
// are there and may be written, at each read that the register or the byte of stack was written
// before. It is slow, and meant as the oracle: what it does is what other executions must do, and
// what it refuses a verifier must not accept.
//
// Division by 0 is 0, the remainder by 0 is the dividend, and shifts use the low bits of their
// count, as RFC 9669 has it.
//
// The suite bpf_conformance passes, but for one file: TestConformance says how to run it.
package interp

import (
	"fmt"

	"sonde/bpf"
)

const (
	// MaxFrames is how many functions of a program can be in progress at once.
	MaxFrames = 8
	// StackSize is how many bytes of stack a function has, below R10.
	StackSize = 512
	// StackTop is R10 in the first function. Each further one lies 1024 bytes below, so that no
	// frame touches the next. Regions must lie elsewhere.
	StackTop = 0x7FFF_0000_0000
	// DefaultLimit is how many instructions a run may execute if Machine.Limit is 0.
	DefaultLimit = 1 << 20
)

// Region is memory that a program can access.
type Region struct {
	Name     string // for errors
	Base     uint64 // the address of the first byte
	Bytes    []byte
	Writable bool
}

// Helper is a function that programs call by number. An error ends the run.
type Helper func(m *Machine, args [5]uint64) (uint64, error)

// Machine is a program with what it can reach. It must not be used by two goroutines at once.
type Machine struct {
	Regions []Region // must not overlap; a helper may add some
	Helpers map[int32]Helper
	// Resolve returns the number that a 64-bit load of a map or variable loads; nil: there is none.
	Resolve func(first, second bpf.Insn) (uint64, error)
	// Tail returns a machine whose program continues in place of the one that calls bpf.TailCall with these
	// arguments, over the memory and with the helpers of this one; nil: there is none.
	Tail  func(args [5]uint64) *Machine
	Limit int // of executed instructions, helpers not counted
	Steps int // executed instructions of the last run

	own    code // what it was made for
	code        // what it executes
	frames []*frame
	tails  int // tail calls of this run
}

// code is a program.
type code struct {
	insns  []bpf.Insn
	begins []bool // where an instruction begins
}

// Error is why a run ended before its exit.
type Error struct {
	PC   int
	Text string // of the instruction
	Why  string // what it tried, and why that was refused
}

func (e *Error) Error() string {
	return fmt.Sprintf("instruction %d (%s): %s", e.PC, e.Text, e.Why)
}

// New returns a machine for a program.
//
// Errors: the program is empty, or has what bpf.Check refuses.
func New(insns []bpf.Insn) (*Machine, error) {
	if len(insns) == 0 {
		return nil, fmt.Errorf("the program has no instructions: expected at least exit")
	}
	c := code{insns, make([]bool, len(insns))}
	for pc := 0; pc < len(insns); pc++ {
		if err := bpf.Check(insns, pc); err != nil {
			return nil, err
		}
		c.begins[pc] = true
		if insns[pc].IsWide() {
			pc++
		}
	}
	return &Machine{own: c, code: c}, nil
}

// Run executes the program from its first instruction, with up to 5 arguments, and returns R0.
//
// Errors: *Error.
func (m *Machine) Run(args ...uint64) (uint64, error) {
	m.Steps, m.frames, m.tails, m.code = 0, nil, 0, m.own
	return m.Call(0, args...)
}

// Call executes the function that begins at pc, with up to 5 arguments, and returns its R0. It is
// for helpers that are given a function: the number that the load of its address has loaded is
// its pc.
//
// Errors: *Error; an error without instruction if pc is none, or frames are used up.
func (m *Machine) Call(pc int, args ...uint64) (uint64, error) {
	f, err := m.push(pc)
	if err != nil {
		return 0, err
	}
	defer m.pop()
	for i, a := range args {
		f.set(uint8(1+i), a)
	}
	if err := m.execute(f); err != nil {
		return 0, err
	}
	if !f.knows(0) {
		return 0, m.refusal(f, "returns R0, which was not written")
	}
	return f.regs[0], nil
}

// push begins a frame.
func (m *Machine) push(pc int) (*frame, error) {
	switch {
	case pc < 0 || pc >= len(m.insns) || !m.begins[pc]:
		return nil, fmt.Errorf("calling %d: no instruction begins there", pc)
	case len(m.frames) == MaxFrames:
		return nil, fmt.Errorf("calling %d: %d functions are in progress, and no more can be", pc, MaxFrames)
	}
	f := newFrame(pc, StackTop-uint64(len(m.frames))*2*StackSize)
	m.frames = append(m.frames, f)
	return f, nil
}

func newFrame(pc int, top uint64) *frame {
	f := &frame{pc: pc, next: pc, top: top, known: 1 << bpf.R10}
	f.regs[bpf.R10] = top
	return f
}

func (m *Machine) pop() { m.frames = m.frames[:len(m.frames)-1] }

// refusal returns the error of the instruction that f is at.
func (m *Machine) refusal(f *frame, why string) error {
	text, err := bpf.Text(m.insns, f.pc)
	if err != nil {
		text = err.Error()
	}
	return &Error{PC: f.pc, Text: text, Why: why}
}

// frame is a function in progress. The first thing that is refused is kept in why; after it
// registers read as 0, and the run ends when the instruction is through.
type frame struct {
	pc, next int // the instruction that is executed, and the one after it
	regs     [bpf.NumRegs]uint64
	known    uint16 // the registers that were written
	top      uint64
	stack    [StackSize]byte
	written  [StackSize]bool
	why      string
}

func (f *frame) knows(r uint8) bool { return f.known&(1<<r) != 0 }

func (f *frame) refuse(format string, args ...any) {
	if f.why == "" {
		f.why = fmt.Sprintf(format, args...)
	}
}

// get reads a register.
func (f *frame) get(r uint8) uint64 {
	if !f.knows(r) {
		f.refuse("reads R%d, which was not written", r)
		return 0
	}
	return f.regs[r]
}

// set writes a register.
func (f *frame) set(r uint8, v uint64) {
	if r == bpf.R10 {
		f.refuse("writes R10, which is read-only")
		return
	}
	f.regs[r] = v
	f.known |= 1 << r
}

// forget has registers count as not written.
func (f *frame) forget(first, last uint8) {
	for r := first; r <= last; r++ {
		f.known &^= 1 << r
		f.regs[r] = 0
	}
}
