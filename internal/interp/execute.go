package interp

import (
	"fmt"

	"sonde/bpf"
)

// execute runs f until its exit.
func (m *Machine) execute(f *frame) error {
	limit := m.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	for {
		if m.Steps == limit {
			return m.refusal(f, fmt.Sprintf("is not executed: %d instructions were, and that is the limit", limit))
		}
		m.Steps++
		if done, err := m.step(f); err != nil || done {
			return err
		}
		if !m.isInsn(f.next) {
			f.refuse("goes on at %d, where no instruction begins", f.next)
		}
		if f.why != "" {
			return m.refusal(f, f.why)
		}
		f.pc = f.next
	}
}

func (m *Machine) isInsn(pc int) bool { return pc >= 0 && pc < len(m.insns) && m.begins[pc] }

// step executes one instruction and tells whether it is an exit. Errors are those of functions
// that it calls; what is wrong with the instruction is in f.why.
func (m *Machine) step(f *frame) (exit bool, err error) {
	in := m.insns[f.pc]
	f.next = f.pc + 1
	switch in.Class() {
	case bpf.ALU, bpf.ALU64:
		arithmetic(f, in)
	case bpf.JMP, bpf.JMP32:
		return m.jump(f, in)
	case bpf.LDX:
		m.loadRegister(f, in)
	case bpf.ST:
		m.store(f, address(f, in, in.Dst()), in.Size(), uint64(int64(in.Imm)))
	case bpf.STX:
		if in.Mode() == bpf.Atomic {
			m.atomic(f, in)
			break
		}
		m.store(f, address(f, in, in.Dst()), in.Size(), f.get(in.Src()))
	case bpf.LD:
		f.next++
		m.loadWide(f, in, m.insns[f.pc+1])
	}
	return false, nil
}

// jump executes an instruction of the classes JMP and JMP32.
func (m *Machine) jump(f *frame, in bpf.Insn) (exit bool, err error) {
	switch in.Operation() {
	case bpf.Exit:
		return true, nil
	case bpf.Call:
		return false, m.call(f, in)
	case bpf.Ja:
		f.next += in.Distance()
	default:
		if holds(in, f.get(in.Dst()), second(f, in)) {
			f.next += in.Distance()
		}
	}
	return false, nil
}

// loadWide executes a 64-bit load.
func (m *Machine) loadWide(f *frame, in, second bpf.Insn) {
	switch in.Src() {
	case bpf.Number:
		f.set(in.Dst(), bpf.Wide(in, second))
		return
	case bpf.Function:
		f.set(in.Dst(), uint64(f.pc+1+in.Distance()))
		return
	}
	if m.Resolve == nil {
		f.refuse("loads what a loader has to resolve, and there is none")
		return
	}
	v, err := m.Resolve(in, second)
	if err != nil {
		f.refuse("%v", err)
		return
	}
	f.set(in.Dst(), v)
}

// call executes a call. Afterwards R1 to R5 count as not written, as another execution may have
// used them.
func (m *Machine) call(f *frame, in bpf.Insn) error {
	switch in.Src() {
	case bpf.CallLocal:
		return m.callLocal(f, f.pc+1+in.Distance())
	case bpf.CallKfunc:
		f.refuse("calls a function of a kernel, and there is none")
		return nil
	}
	if in.Imm == bpf.TailCall && m.Tail != nil {
		m.goOn(f)
		return nil
	}
	helper := m.Helpers[in.Imm]
	if helper == nil {
		f.refuse("no helper has the number %d", in.Imm)
		return nil
	}
	v, err := helper(m, [5]uint64(f.regs[1:6]))
	if err != nil {
		if _, ok := err.(*Error); ok { // in a function of the program that the helper has called
			return err
		}
		f.refuse("helper %d: %v", in.Imm, err)
		return nil
	}
	f.forget(1, 5)
	f.set(0, v)
	return nil
}

// goOn continues as another program, which finds nothing of this one but the context. If there is none, R0 to R5
// count as not written.
func (m *Machine) goOn(f *frame) {
	args := [5]uint64{f.get(1), f.get(2), f.get(3)}
	if len(m.frames) > 1 {
		f.refuse("is a tail call in a function: only the program itself can go on as another one")
	}
	if f.why != "" {
		return
	}
	next := m.Tail(args)
	if next == nil || m.tails == bpf.MaxTailCalls {
		f.forget(0, 5)
		return
	}
	m.tails++
	m.code = next.own
	*f = *newFrame(0, f.top)
	f.set(1, args[0])
}

// callLocal executes a function of the program. Its R0 may be left unwritten.
func (m *Machine) callLocal(f *frame, pc int) error {
	callee, err := m.push(pc)
	if err != nil {
		f.refuse("%v", err)
		return nil
	}
	defer m.pop()
	copy(callee.regs[1:6], f.regs[1:6])
	callee.known |= f.known & 0x3E
	if err := m.execute(callee); err != nil {
		return err
	}
	f.forget(0, 5)
	if callee.knows(0) {
		f.set(0, callee.regs[0])
	}
	return nil
}
