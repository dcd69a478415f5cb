//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// An allState is all that an instruction works on in a trial: general registers by number, flags,
// IP, x87 and vector registers as FXSAVE stores them, the memory that registers point to, and what
// an operand relative to IP names.
type allState struct {
	regs      [16]uint64
	flags, ip uint64
	fx        [512]byte
	data      [dataSize]byte
	near      [64]byte
	nearAt    uint64 // 0: there is no such operand
	signal    syscall.Signal
}

const dataSize = 0x1000

// random makes a state in which most registers and words are addresses of data.
func (t *trial) random(addr uint64, code []byte) *allState {
	s := new(allState)
	value := func() uint64 {
		if t.rng.IntN(3) == 0 {
			return uint64(t.rng.IntN(8))
		}
		return heapAt + 0x400 + uint64(t.rng.IntN(0x800))&^63
	}
	for i := range s.regs {
		s.regs[i] = value()
	}
	for i := 0; i < dataSize; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], value())
	}
	for i := 0; i < len(s.near); i += 8 {
		binary.LittleEndian.PutUint64(s.near[i:], value())
	}
	binary.LittleEndian.PutUint16(s.fx[0:], 0x37f) // FCW, as after FNINIT
	binary.LittleEndian.PutUint32(s.fx[24:], 0x1f80)
	for i := range 256 { // X0 to X15
		s.fx[160+i] = byte(t.rng.Uint32())
	}
	s.regs[insn.RCX] = uint64(t.rng.IntN(5))
	s.regs[insn.RSP] = heapAt + 0x800
	s.flags = 0x202 | uint64(t.rng.Uint32())&(cf|pf|af|zf|sf|of)
	insn.Walk(code, func(off int, in insn.Inst) bool {
		switch m, ok := in.MemOperand(); {
		case ok && m.RIPRel:
			s.nearAt = m.Addr(&s.regs, addr+uint64(off)+uint64(in.Len))
		case ok && m.Base >= 0 && m.Base != insn.RSP && m.Base != m.Index:
			s.regs[m.Base] += heapAt + 0x400 + uint64(t.rng.IntN(0x80))*16 - m.Addr(&s.regs, 0)
		}
		return true
	})
	if t.code.at(s.nearAt) != nil || s.nearAt < imageAt || s.nearAt > slot-64 { // LEA of a function
		s.nearAt = 0
	}
	return s
}

// bytes returns the 8 bytes at addr, nil if they are not s's.
func (s *allState) bytes(addr uint64) []byte {
	switch {
	case addr >= heapAt && addr <= heapAt+dataSize-8:
		return s.data[addr-heapAt:][:8]
	case s.nearAt != 0 && addr >= s.nearAt && addr <= s.nearAt+56:
		return s.near[addr-s.nearAt:][:8]
	}
	return nil
}

// executions is how often a repeated instruction can be done, and instructions of a
// copy.
const executions = 60

// run executes from s, at ip, until IP has left the size bytes at begin, or is at their
// beginning again.
func (t *trial) run(s allState, ip, begin, size uint64) (*allState, error) {
	if err := t.load(&s, ip); err != nil {
		return nil, err
	}
	var r syscall.PtraceRegs
	for range executions {
		var err error
		if s.signal, err = t.step(); err != nil {
			return nil, err
		}
		if err := syscall.PtraceGetRegs(t.pid, &r); err != nil {
			return nil, err
		}
		repeats := r.Rip == begin && t.repeating(begin)
		if s.signal != syscall.SIGTRAP || r.Rip-begin >= size || r.Rip == begin && !repeats {
			break
		}
	}
	return &s, t.store(&s, &r)
}

// repeating reports whether a repeated string instruction stands at addr.
func (t *trial) repeating(addr uint64) bool {
	var b [insn.MaxLen]byte
	t.mem.ReadAt(b[:], int64(addr))
	in, err := insn.Decode(b[:])
	return err == nil && in.IsRep()
}

// load makes s the state of the process, with that IP.
func (t *trial) load(s *allState, ip uint64) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(t.pid, &r); err != nil {
		return err
	}
	for i, p := range registers(&r) {
		*p = s.regs[i]
	}
	r.Rip, r.Eflags, r.Orig_rax = ip, s.flags, ^uint64(0)
	if err := syscall.PtraceSetRegs(t.pid, &r); err != nil {
		return err
	}
	if err := t.fx(syscall.PTRACE_SETFPREGS, &s.fx); err != nil {
		return err
	}
	if s.nearAt != 0 {
		if _, err := t.mem.WriteAt(s.near[:], int64(s.nearAt)); err != nil {
			return err
		}
	}
	_, err := t.mem.WriteAt(s.data[:], heapAt)
	return err
}

// store makes s the state of the process, whose registers are r.
func (t *trial) store(s *allState, r *syscall.PtraceRegs) error {
	for i, p := range registers(r) {
		s.regs[i] = *p
	}
	s.flags, s.ip = r.Eflags, r.Rip
	if err := t.fx(syscall.PTRACE_GETFPREGS, &s.fx); err != nil {
		return err
	}
	clear(s.fx[6:24])  // where the last x87 instruction is, and its operand
	clear(s.fx[28:32]) // what MXCSR may be
	clear(s.fx[416:])  // nothing
	if s.nearAt != 0 {
		if _, err := t.mem.ReadAt(s.near[:], int64(s.nearAt)); err != nil {
			return err
		}
	}
	_, err := t.mem.ReadAt(s.data[:], heapAt)
	return err
}

func (t *trial) fx(request uintptr, b *[512]byte) error {
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, request, uintptr(t.pid), 0, uintptr(unsafe.Pointer(b)), 0, 0); e != 0 {
		return e
	}
	return nil
}

// differs says what is different in got, "" if nothing is.
func (want *allState) differs(got *allState) string {
	const flags = cf | pf | af | zf | sf | of | amd64.RFLAGS_DF
	for i, v := range want.regs {
		if got.regs[i] != v {
			return fmt.Sprintf("register %d is %#x, not %#x", i, got.regs[i], v)
		}
	}
	switch {
	case got.signal != want.signal:
		return fmt.Sprintf("signal %d, not %d", got.signal, want.signal)
	case got.ip != want.ip:
		return fmt.Sprintf("IP is %#x, not %#x", got.ip, want.ip)
	case (got.flags^want.flags)&flags != 0:
		return fmt.Sprintf("flags are %#x, not %#x", got.flags, want.flags)
	case got.data != want.data || got.near != want.near:
		return "memory is different"
	case got.fx != want.fx && got.fx != ([512]byte{}): // those of an emulation are not
		return "vector registers or x87 are different"
	}
	return ""
}
