//go:build tamago

package kprobes

import (
	"errors"
	"fmt"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/arch/amd64/prologue"
	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kernel/text"
)

type symbol = kallsyms.Symbol

// name is how errors call k.
func (k *Kprobe) name() string {
	if k.SymbolName == "" {
		return fmt.Sprintf("%#x", k.Addr)
	}
	return fmt.Sprintf("%s+%#x", k.SymbolName, k.Offset)
}

func (k kind) noun() string { return [...]string{"kprobe", "return probe", "jprobe"}[k] }

// resolve returns where k goes and the function that is in.
func (k *Kprobe) resolve() (addr uintptr, fn symbol, err error) {
	switch {
	case k.SymbolName != "" && k.Addr != 0:
		return 0, fn, refuse(syscall.EINVAL, "both SymbolName and Addr are given")
	case k.SymbolName != "":
		if fn, err = kallsyms.Resolve(k.SymbolName); err != nil {
			return 0, fn, err
		}
		if !fn.IsText() {
			return 0, fn, refuse(syscall.EINVAL, "%s is data", fn.Name)
		}
		if uint64(k.Offset) >= fn.Size {
			return 0, fn, refuse(syscall.EINVAL, "%s has %#x bytes", fn.Name, fn.Size)
		}
		return uintptr(fn.Addr) + k.Offset, fn, nil
	case k.Addr != 0:
		var ok bool
		if fn, ok = kallsyms.Kernel().At(uint64(k.Addr)); !ok || !fn.IsText() || !mm.Text.Contains(k.Addr) {
			return 0, fn, refuse(syscall.EINVAL, "not an address of kernel text")
		}
		return k.Addr, fn, nil
	}
	return 0, fn, refuse(syscall.EINVAL, "neither SymbolName nor Addr is given")
}

// newSite checks that addr, in function fn, can be probed and makes its site.
func newSite(addr uintptr, fn symbol) (*site, error) {
	if why := blacklisted(fn); why != "" {
		return nil, refuse(syscall.EINVAL, "%s may not be probed: %s", fn.Name, why)
	}
	off := int(addr - uintptr(fn.Addr))
	in, code, err := instruction(fn, off)
	switch {
	case errors.Is(err, insn.ErrBoundary):
		return nil, refuse(syscall.EILSEQ, "%s+%#x is inside an instruction", fn.Name, off)
	case err != nil:
		return nil, refuse(syscall.EILSEQ, "%s does not decode to its end: %v", fn.Name, err)
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
	return s, s.prepare()
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

// prepare finds out how the instruction will be executed, and gives it a slot if
// not by emulation.
//
// Errors: EILSEQ it cannot be executed elsewhere; ENOMEM.
func (s *site) prepare() error {
	in := &s.in
	var emulable bool
	if s.op, emulable = emulate.New(in, uint64(s.addr)); emulable {
		return nil
	}
	if why := in.Movable(); why != insn.Fine {
		return refuse(syscall.EILSEQ, "the instruction cannot be executed elsewhere: %v", why)
	}
	s.boost, s.step = in.Boostable(), in.Steppable()
	if !s.boost && !s.step {
		return refuse(syscall.EILSEQ, "the instruction cannot be single-stepped")
	}
	if !s.reaches(mm.Slots.Start) || !s.reaches(mm.Slots.End) {
		return refuse(syscall.EILSEQ, "the instruction's operand is not within reach of a copy")
	}
	slot, err := allocSlot(s.addr)
	if err != nil {
		return err
	}
	s.slot = slot
	code := make([]byte, in.Len, insn.MaxLen+insn.JumpSize)
	in.CopyTo(code, s.code(), uint64(s.addr), uint64(slot))
	// Behind the copy, the way back of a boosted one.
	back, _ := insn.Jump(uint64(slot)+uint64(in.Len), uint64(s.addr)+uint64(in.Len))
	text.WriteSlot(slot, append(code, back[:]...))
	return nil
}

// reaches reports whether a copy at to would reach the instruction's operand.
func (s *site) reaches(to uintptr) bool {
	var scratch [insn.MaxLen]byte
	return s.in.CopyTo(scratch[:], s.code(), uint64(s.addr), uint64(to))
}

// original returns the n bytes of code at addr as the image has them, without
// the breakpoints of other probes.
func original(addr, n uintptr) []byte {
	code := append([]byte(nil), text.Bytes(addr, n)...)
	for i := range code {
		if code[i] != insn.OpInt3 && code[i] != insn.OpJmp {
			continue
		}
		s := find(addr + uintptr(i))
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
