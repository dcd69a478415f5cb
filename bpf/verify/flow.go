package verify

import (
	"fmt"
	"slices"

	"sonde/bpf"
)

// flow is where a program goes.
type flow struct {
	insns  []bpf.Insn
	begins []bool // an instruction begins here
	starts []int  // of functions, ascending
	points []bool // a jump leads here: states are kept
}

// newFlow checks each instruction by itself, and where control goes: jumps lead to instructions
// of the same function, its end is not run over, and all of it can be reached.
func newFlow(insns []bpf.Insn) (f *flow, fault *refusal) {
	f = &flow{insns: insns, begins: make([]bool, len(insns)+1), points: make([]bool, len(insns))}
	defer func() {
		if r, ok := recover().(refusal); ok {
			fault = &r
		}
	}()
	f.instructions()
	f.functions()
	f.jumps()
	f.reach()
	return f, nil
}

func flowFault(pc int, format string, args ...any) {
	panic(refusal{pc: pc, why: fmt.Sprintf(format, args...), invalid: true})
}

func (f *flow) instructions() {
	if len(f.insns) == 0 {
		flowFault(0, "the program has no instructions: expected at least exit")
	}
	for pc := 0; pc < len(f.insns); pc++ {
		if err := bpf.Check(f.insns, pc); err != nil {
			flowFault(pc, "%v", err)
		}
		f.begins[pc] = true
		if f.insns[pc].IsWide() {
			pc++
		}
	}
}

// target is where the instruction leads beside the next one.
func (f *flow) target(pc int) int { return pc + 1 + f.insns[pc].Distance() }

func (f *flow) functions() {
	f.starts = []int{0}
	for pc, in := range f.insns {
		local := in.Class() == bpf.JMP && in.Operation() == bpf.Call && in.Src() == bpf.CallLocal
		if !f.begins[pc] || !local && !(in.IsWide() && in.Src() == bpf.Function) {
			continue
		}
		to := f.target(pc)
		if to < 0 || to >= len(f.insns) || !f.begins[to] {
			flowFault(pc, "it refers to a function at %d, where no instruction begins", to)
		}
		f.starts = append(f.starts, to)
	}
	slices.Sort(f.starts)
	f.starts = slices.Compact(f.starts)
}

// bounds returns the function that pc is in, as [start, end).
func (f *flow) bounds(pc int) (start, end int) {
	i, found := slices.BinarySearch(f.starts, pc)
	if !found {
		i--
	}
	if i+1 < len(f.starts) {
		return f.starts[i], f.starts[i+1]
	}
	return f.starts[i], len(f.insns)
}

func (f *flow) isJump(pc int) bool {
	in := f.insns[pc]
	return (in.Class() == bpf.JMP || in.Class() == bpf.JMP32) && in.Operation() != bpf.Call && in.Operation() != bpf.Exit
}

func isAlways(in bpf.Insn) bool { return in.Operation() == bpf.Ja }

func (f *flow) jumps() {
	for pc := range f.insns {
		if !f.begins[pc] {
			continue
		}
		start, end := f.bounds(pc)
		if f.isJump(pc) {
			to := f.target(pc)
			switch {
			case to < start || to >= end:
				flowFault(pc, "it jumps to %d, outside the function, which is instructions %d to %d", to, start, end-1)
			case !f.begins[to]:
				flowFault(pc, "it jumps to %d, the second half of an instruction", to)
			}
			f.points[to] = true
		}
		if next := pc + f.length(pc); next == end && !f.ends(pc) {
			flowFault(pc, "the function ends here: expected exit or a jump")
		}
	}
}

// length is how many units the instruction takes.
func (f *flow) length(pc int) int {
	if f.insns[pc].IsWide() {
		return 2
	}
	return 1
}

// ends tells whether control never continues to the next instruction.
func (f *flow) ends(pc int) bool {
	in := f.insns[pc]
	isExit := in.Class() == bpf.JMP && in.Operation() == bpf.Exit
	return isExit || f.isJump(pc) && isAlways(in)
}

// reach refuses instructions that no path leads to.
func (f *flow) reach() {
	seen := make([]bool, len(f.insns))
	todo := []int{0}
	visit := func(pc int) {
		if !seen[pc] {
			seen[pc] = true
			todo = append(todo, pc)
		}
	}
	seen[0] = true
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in := f.insns[pc]
		isRef := in.IsWide() && in.Src() == bpf.Function || in.Class() == bpf.JMP && in.Operation() == bpf.Call && in.Src() == bpf.CallLocal
		if f.isJump(pc) || isRef {
			visit(f.target(pc))
		}
		if !f.ends(pc) {
			visit(pc + f.length(pc))
		}
	}
	for pc := range f.insns {
		if f.begins[pc] && !seen[pc] {
			flowFault(pc, "unreachable insn %d: no path leads here", pc)
		}
	}
}
