package kprobes

import (
	"errors"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/arch/amd64/prologue"
	"sonde/kallsyms"
	"sonde/kernel/probe"
	"sonde/kprobes/machine"
)

type symbol = kallsyms.Symbol

// resolve returns where k goes and the function that is in.
func (k *Kprobe) resolve() (addr uintptr, fn symbol, err error) {
	switch {
	case k.SymbolName != "" && k.Addr != 0:
		return 0, fn, probe.Refuse(syscall.EINVAL, "both SymbolName and Addr are given")
	case k.SymbolName != "":
		if fn, err = kallsyms.Resolve(k.SymbolName); err != nil {
			return 0, fn, err
		}
		if !fn.IsText() {
			return 0, fn, probe.Refuse(syscall.EINVAL, "%s is data", fn.Name)
		}
		if uint64(k.Offset) >= fn.Size {
			return 0, fn, probe.Refuse(syscall.EINVAL, "%s has %#x bytes", fn.Name, fn.Size)
		}
		return uintptr(fn.Addr) + k.Offset, fn, nil
	case k.Addr != 0:
		var ok bool
		if fn, ok = kallsyms.Kernel().At(uint64(k.Addr)); !ok || !fn.IsText() || machine.This.Code(k.Addr, 1) == nil {
			return 0, fn, probe.Refuse(syscall.EINVAL, "not an address of kernel text")
		}
		return k.Addr, fn, nil
	}
	return 0, fn, probe.Refuse(syscall.EINVAL, "neither SymbolName nor Addr is given")
}

// newSite returns what a probe at addr, in function fn, would be. Nothing is
// taken or changed: see (*site).house.
//
// Errors: EINVAL fn may not be probed; EILSEQ no instruction begins at addr, or
// it cannot be executed elsewhere.
func newSite(addr uintptr, fn symbol) (*site, error) {
	if why := machine.This.Blacklisted(fn); why != "" {
		return nil, probe.Refuse(syscall.EINVAL, "%s may not be probed: %s", fn.Name, why)
	}
	off := int(addr - uintptr(fn.Addr))
	in, code, err := instruction(fn, off)
	switch {
	case errors.Is(err, insn.ErrBoundary):
		return nil, probe.Refuse(syscall.EILSEQ, "%s+%#x is inside an instruction", fn.Name, off)
	case err != nil:
		return nil, probe.Refuse(syscall.EILSEQ, "%s does not decode to its end: %v", fn.Name, err)
	}
	s := &site{addr: addr, in: in}
	copy(s.orig[:], code[off:])
	if in.Flow == insn.Jmp {
		s.to = in.Target(uint64(addr))
	}
	if p := prologue.Find(code); off == 0 {
		s.check = p
	} else if off < int(p.Len) {
		s.around, s.within = p, uint8(off)
	}
	return s, s.classify()
}

// classify finds out how the instruction can be executed.
//
// Errors: EILSEQ it cannot be executed elsewhere.
func (s *site) classify() error {
	in := &s.in
	if s.op, s.emulated = emulate.New(in, uint64(s.addr)); s.emulated {
		return nil
	}
	if why := in.Movable(); why != insn.Fine {
		return probe.Refuse(syscall.EILSEQ, "the instruction cannot be executed elsewhere: %v", why)
	}
	s.boost, s.step = in.Boostable(), in.Steppable()
	if s.bare(false) == Refused {
		return probe.Refuse(syscall.EILSEQ, "the instruction cannot be single-stepped")
	}
	return nil
}

// house gives the instruction a slot, unless it is emulated, with its copy and,
// behind that, the way back of a boosted one.
//
// Errors: ENOMEM; EILSEQ the instruction's operand is not within reach.
func (s *site) house() error {
	if s.emulated {
		return nil
	}
	slot, ok := machine.This.Slots.Take(s.addr)
	if !ok {
		return probe.Refuse(syscall.ENOMEM, "all %d slots are in use", machine.This.Slots.Used())
	}
	code := make([]byte, s.in.Len, insn.MaxLen+insn.JumpSize)
	back, near := insn.Jump(uint64(slot)+uint64(s.in.Len), uint64(s.addr)+uint64(s.in.Len))
	if !near || !s.in.CopyTo(code, s.code(), uint64(s.addr), uint64(slot)) {
		machine.This.Slots.Put(slot, machine.This.Since(), nil)
		return probe.Refuse(syscall.EILSEQ, "the instruction's operand is not within reach of a copy")
	}
	s.slot = slot
	machine.This.Write(slot, append(code, back[:]...))
	return nil
}

// decoded are functions known to decode to their end; code does not change.
// guarded by mu
var decoded = map[uint64]bool{}

// headSize is more than a stack check is long, and than an instruction.
const headSize = 48

// instruction returns the one at off in fn and code of fn that begins with its
// first instruction.
//
// Errors: those of insn.BoundaryAt.
func instruction(fn symbol, off int) (insn.Inst, []byte, error) {
	if off == 0 && decoded[fn.Addr] {
		code := original(uintptr(fn.Addr), min(uintptr(fn.Size), headSize))
		in, err := insn.Decode(code)
		return in, code, err
	}
	code := original(uintptr(fn.Addr), uintptr(fn.Size))
	in, err := insn.BoundaryAt(code, off)
	if err == nil {
		decoded[fn.Addr] = true
	}
	return in, code, err
}

// original returns the n bytes of code at addr as the image has them, without
// the breakpoints of other probes.
func original(addr, n uintptr) []byte {
	code := append([]byte(nil), machine.This.Code(addr, n)...)
	for i := range code {
		if code[i] != insn.OpInt3 && code[i] != insn.OpJmp {
			continue
		}
		s := sites.Find(addr + uintptr(i))
		switch {
		case s == nil:
		case s.jumped:
			copy(code[i:], s.orig[:JumpSize])
		case code[i] == insn.OpInt3:
			code[i] = s.orig[0]
		}
	}
	return code
}
