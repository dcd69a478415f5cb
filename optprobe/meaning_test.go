package optprobe

import (
	"bytes"
	"testing"

	"sonde/arch/amd64/insn"
)

// sameMeaning compares a copy with the code of its region, instruction by
// instruction: what each does and where it leads.
func sameMeaning(t *testing.T, c *Copy, code []byte) {
	t.Helper()
	in := insn.Inst{}
	for off := 0; off < len(code); off += int(in.Len) {
		in, _ = insn.Decode(code[off:])
		pc := c.From + uint64(off)
		at, ok := c.At(pc)
		if !ok {
			t.Errorf("% x: nothing stands for +%#x", code, off)
			return
		}
		if p, ok := c.Original(at); !ok || p != (Place{IP: pc}) {
			t.Errorf("% x: %#x is %+v, want %#x", code, at, p, pc)
		}
		m := meaning{t, c, at}
		m.compare(&in, code[off:off+int(in.Len)], pc)
	}
	if end := c.From + uint64(len(code)); in.Flow.FallsThrough() {
		back := c.To + uint64(c.len) - JumpSize
		m := meaning{t, c, back}
		m.direct(insn.Jmp, end)
		if p, ok := c.Original(back + 2); !ok || p != (Place{IP: end}) {
			t.Errorf("% x: the jump back is %+v, want %#x", code, p, end)
		}
	}
}

// meaning reads a copy from address at on.
type meaning struct {
	t  *testing.T
	c  *Copy
	at uint64
}

func (m *meaning) next() (insn.Inst, []byte, uint64) {
	m.t.Helper()
	pc := m.at
	code := m.c.Bytes()[pc-m.c.To:]
	in, err := insn.Decode(code)
	if err != nil {
		m.t.Fatalf("copy % x at %#x: %v", m.c.Bytes(), pc, err)
	}
	m.at += uint64(in.Len)
	return in, code[:in.Len], pc
}

// direct wants a direct branch to target and returns it.
func (m *meaning) direct(f insn.Flow, target uint64) insn.Inst {
	m.t.Helper()
	in, code, pc := m.next()
	if in.Flow != f || in.Target(pc) != target {
		m.t.Errorf("% x at %#x: %v to %#x, want %v to %#x", code, pc, in.Flow, in.Target(pc), f, target)
	}
	return in
}

// push wants the push of a return address, and the mark behind it.
func (m *meaning) push(ret, call uint64) {
	m.t.Helper()
	in, code, pc := m.next()
	if in.Opcode != insn.OpPush || uint64(int64(int32(in.Imm()))) != ret {
		m.t.Errorf("% x at %#x, want a push of %#x", code, pc, ret)
	}
	if p, ok := m.c.Original(m.at); !ok || p != (Place{call, true}) {
		m.t.Errorf("behind the push of the call at %#x: %+v", call, p)
	}
}

// compare compares the original instruction, which is at address pc.
func (m *meaning) compare(in *insn.Inst, code []byte, pc uint64) {
	m.t.Helper()
	next, target := pc+uint64(in.Len), in.Target(pc)
	switch in.Flow {
	case insn.Jmp:
		m.direct(insn.Jmp, target)
	case insn.Jcc:
		if got := m.direct(insn.Jcc, target); got.Cond() != in.Cond() {
			m.t.Errorf("condition %d, want %d", got.Cond(), in.Cond())
		}
	case insn.Loop:
		m.loop(in, next, target)
	case insn.Call:
		m.push(next, pc)
		m.direct(insn.Jmp, target)
	case insn.CallInd:
		m.push(next, pc)
		m.operand(in, code, next, 8)
	default:
		m.operand(in, code, next, 0)
	}
}

func (m *meaning) loop(in *insn.Inst, next, target uint64) {
	m.t.Helper()
	got, code, pc := m.next()
	taken := got.Target(pc)
	if got.Flow != insn.Loop || got.Opcode != in.Opcode || got.Prefix.Has(insn.P67) != in.Prefix.Has(insn.P67) {
		m.t.Errorf("% x, want a loop with opcode %#x", code, in.Opcode)
	}
	if p, _ := m.c.Original(m.at); p != (Place{IP: next}) {
		m.t.Errorf("not taken: %+v, want %#x", p, next)
	}
	skip, _, pc := m.next()
	if taken != m.at {
		m.t.Errorf("loop leads to %#x, want %#x", taken, m.at)
	}
	if p, _ := m.c.Original(m.at); p != (Place{IP: target}) {
		m.t.Errorf("taken: %+v, want %#x", p, target)
	}
	m.direct(insn.Jmp, target)
	if got := skip.Target(pc); got != m.at {
		m.t.Errorf("not taken, it goes to %#x, want %#x", got, m.at)
	}
}

// operand wants an instruction with the same bytes except for the displacement,
// and the same operand when the copy has pushed so many bytes. An indirect
// call is an indirect jump then.
func (m *meaning) operand(in *insn.Inst, code []byte, next uint64, bytesPushed uint64) {
	m.t.Helper()
	got, copied, pc := m.next()
	want := in.Flow
	if want == insn.CallInd {
		want = insn.JmpInd
	}
	if got.Flow != want || got.RMReg() != in.RMReg() || got.Prefix != in.Prefix || got.REX != in.REX {
		m.t.Errorf("% x copied as % x", code, copied)
	}
	if in.Flow == insn.Next || in.Flow == insn.Ret || in.Flow == insn.JmpInd {
		end := in.DispOff
		if in.DispLen == 0 {
			end = in.Len
		}
		if !bytes.Equal(code[:end], copied[:end]) || !bytes.Equal(code[end+in.DispLen:], copied[end+got.DispLen:]) {
			m.t.Errorf("% x copied as % x", code, copied)
		}
	}
	var regs, now [16]uint64
	for i := range regs {
		regs[i] = uint64(i+1) * 0x0102_0304_0506
	}
	now = regs
	now[insn.RSP] -= bytesPushed
	a, ok := in.MemOperand()
	b, ok2 := got.MemOperand()
	if ok != ok2 || ok && a.Addr(&regs, next) != b.Addr(&now, pc+uint64(got.Len)) {
		m.t.Errorf("% x copied as % x: operands %+v, %+v", code, copied, a, b)
	}
}
