//go:build tamago

package glass

import (
	"bytes"
	"fmt"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/probe/glass"
)

// What is special among the registers of a frame.
const (
	ax, sp, ip, flags = 0, 4, glass.IP, glass.Flags
	stepFlags         = amd64.RFLAGS_TF | amd64.RFLAGS_IF
)

// check says what is wrong with frames, by themselves and beside the memory.
func (s *shot) check(frames []glass.Frame) {
	var last *glass.Frame
	for i := range frames {
		f := &frames[i]
		if f.Has&glass.HasRegs == 0 {
			continue
		}
		for _, why := range []string{s.bytes(f), s.order(frames, f, last), s.follows(frames, f, last)} {
			if why != "" {
				s.t.Errorf("frame %d of %d, stage %d: %s", i+1, len(frames), f.Stage, why)
			}
		}
		last = f
	}
}

// bytes compares with the memory.
func (s *shot) bytes(f *glass.Frame) string {
	live := text.Bytes(s.d.Addr, glass.CodeBytes)
	switch {
	case f.Has&glass.HasText == 0 || !bytes.Equal(f.Text[:], live):
		return fmt.Sprintf("the place is % x, not % x", f.Text, live)
	case s.d.Jumped && f.Text[0] != insn.OpJmp || !s.d.Jumped && f.Text[0] != insn.OpInt3:
		return fmt.Sprintf("the place begins with %#x", f.Text[0])
	case f.Has&glass.HasCode == 0:
		return fmt.Sprintf("there is no code at IP %#x", f.Regs[ip])
	}
	if at := text.Bytes(uintptr(f.Regs[ip]), glass.CodeBytes); at != nil && !bytes.Equal(f.Code[:], at) {
		return fmt.Sprintf("at IP is % x, not % x", f.Code, at)
	}
	return ""
}

// order: all frames are of one goroutine and follow each other in time.
func (s *shot) order(frames []glass.Frame, f, last *glass.Frame) string {
	switch {
	case f.Goroutine != frames[0].Goroutine:
		return fmt.Sprintf("it is of goroutine %d, not %d", f.Goroutine, frames[0].Goroutine)
	case last != nil && f.Time < last.Time:
		return "it is before the one before it"
	}
	return ""
}

// follows: IP and the other registers follow from the frame before.
func (s *shot) follows(frames []glass.Frame, f, last *glass.Frame) string {
	addr, slot, size := uint64(s.d.Addr), uint64(s.d.Slot), s.length()
	want := f.Regs
	if last != nil {
		want = last.Regs
	}
	switch f.Stage {
	case glass.Jumped:
		want = f.Regs // IP is not looked at
	case glass.Trapped, glass.Grows:
		want = f.Regs
		want[ip] = addr + 1
	case glass.ToSlot:
		want[ip] = slot
	case glass.ToStep:
		want[ip], want[flags] = slot, want[flags]&^stepFlags|amd64.RFLAGS_TF
	case glass.Stepped:
		want = f.Regs // the instruction may do anything
		want[ip], want[flags] = slot+size, want[flags]&^stepFlags|amd64.RFLAGS_TF
	case glass.PutBack:
		want[ip], want[flags] = addr+size, want[flags]&^stepFlags|began(frames).Regs[flags]&stepFlags
	case glass.ToDetour:
		want[ip] = uint64(s.d.Detour.Resume)
	case glass.Branched:
		want[ip] = s.target()
	case glass.Decided:
		want[ip], want[12] = addr+uint64(s.d.Check), f.Regs[12]
		want[flags] &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	case glass.Emulated, glass.TookOver, glass.Leaves, glass.Abandoned, glass.Faulted:
		return "" // the case looks at them
	case glass.Trampoline:
		want = f.Regs
		want[ip], want[sp] = s.trampoline, began(frames).Regs[sp]+8
	case glass.GoesBack:
		want[ip] = s.caller(frames)
	default:
		if last.Stage == glass.Jumped || last.Stage == glass.Trampoline {
			want[ip] = f.Regs[ip]
		}
	}
	if want != f.Regs {
		return fmt.Sprintf("registers %#x, want %#x", f.Regs, want)
	}
	return ""
}

// began is the first frame of the call.
func began(frames []glass.Frame) *glass.Frame {
	if frames[0].Stage == glass.Grows {
		return &frames[1]
	}
	return &frames[0]
}

// caller is the return address that the first return probe has replaced.
func (s *shot) caller(frames []glass.Frame) uint64 {
	for i := range frames {
		if frames[i].Stage == glass.Replaced {
			return frames[i].Note[1]
		}
	}
	return 0
}

// length is that of the probed instruction.
func (s *shot) length() uint64 { return uint64(s.inst().Len) }

func (s *shot) inst() insn.Inst {
	in, err := insn.Decode(kprobes.Original(s.d.Addr, glass.CodeBytes))
	s.t.Must(err)
	return in
}

// target is where the probed branch leads.
func (s *shot) target() uint64 {
	in := s.inst()
	return in.Target(uint64(s.d.Addr))
}
