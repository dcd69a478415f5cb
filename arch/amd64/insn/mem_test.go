package insn

import "testing"

func TestMemOperand(t *testing.T) {
	none := Mem{Base: NoReg, Index: NoReg}
	with := func(f func(m *Mem)) Mem { m := none; f(&m); return m }
	for _, c := range []struct {
		name, code string
		want       Mem
		addr       uint64 // with register n = 0x100*(n+1), next = 0x10000
	}{
		{"call [rax]", "ff 10", with(func(m *Mem) { m.Base = RAX }), 0x100},
		{"call [rsp+8]", "ff 54 24 08", with(func(m *Mem) { m.Base, m.Disp = RSP, 8 }), 0x508},
		{"call [r12]", "41 ff 14 24", with(func(m *Mem) { m.Base = R12 }), 0xD00},
		{"call [r13-8]", "41 ff 55 f8", with(func(m *Mem) { m.Base, m.Disp = R13, -8 }), 0xDF8},
		{"call [rip+10h]", "ff 15 10 00 00 00", with(func(m *Mem) { m.RIPRel, m.Disp = true, 16 }), 0x10010},
		{"call [rip-1], REX.B", "41 ff 15 ff ff ff ff", with(func(m *Mem) { m.RIPRel, m.Disp = true, -1 }), 0xFFFF},
		{"jmp [rcx*8+table]", "ff 24 cd 00 10 00 00", with(func(m *Mem) { m.Index, m.Scale, m.Disp = RCX, 8, 0x1000 }), 0x2000},
		{"jmp [r8+r12*4]", "43 ff 24 a0", with(func(m *Mem) { m.Base, m.Index, m.Scale = R8, R12, 4 }), 0x3D00},
		{"jmp [disp32]", "ff 24 25 00 10 00 00", with(func(m *Mem) { m.Disp = 0x1000 }), 0x1000},
		{"jmp [disp32], REX.B does not make a base", "41 ff 24 25 00 10 00 00", with(func(m *Mem) { m.Disp = 0x1000 }), 0x1000},
		{"jmp [-8] sign-extended", "ff 24 25 f8 ff ff ff", with(func(m *Mem) { m.Disp = -8 }), ^uint64(7)},
		{"jmp [ebx-301h] cut", "67 ff a3 ff fb ff ff", with(func(m *Mem) { m.Base, m.Disp, m.Addr32 = RBX, -0x401, true }), 0xFFFFFFFF},
		{"call fs:[0]", "64 ff 14 25 00 00 00 00", with(func(m *Mem) { m.Seg = SegFS }), 0},
		{"call gs:[rdi]", "65 ff 17", with(func(m *Mem) { m.Base, m.Seg = RDI, SegGS }), 0x800},
		{"notrack jmp [rax]", "3e ff 20", with(func(m *Mem) { m.Base = RAX }), 0x100},
		{"mov al, [moffs]", "a0 01 00 00 00 00 00 00 80", with(func(m *Mem) { m.Disp = -0x7FFFFFFFFFFFFFFF }), 0x8000000000000001},
		{"mov al, [moffs32]", "67 a0 00 00 00 80", with(func(m *Mem) { m.Disp, m.Addr32 = 0x80000000, true }), 0x80000000},
		{"vmovdqu ymm, [r9+r10]", "c4 81 7e 6f 04 11", with(func(m *Mem) { m.Base, m.Index, m.Scale = R9, R10, 1 }), 0x1500},
	} {
		code := unhex(t, c.code)
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		m, ok := in.MemOperand()
		if !ok || m != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, m, ok, c.want)
		}
		var regs [16]uint64
		for n := range regs {
			regs[n] = 0x100 * uint64(n+1)
		}
		if got := m.Addr(&regs, 0x10000); got != c.addr {
			t.Errorf("%s: address %#x, want %#x", c.name, got, c.addr)
		}
		if in.RMReg() != NoReg {
			t.Errorf("%s: RMReg %d", c.name, in.RMReg())
		}
	}
}

func TestMemOperandRefuses(t *testing.T) {
	for _, c := range []struct {
		name, code string
		reg        int8
	}{
		{"register", "ff d0", RAX},
		{"register r11", "41 ff e3", R11},
		{"no ModRM", "c3", NoReg},
		{"EVEX disp8 is scaled", "62 f1 fe 48 6f 47 01", NoReg},
		{"gather", "c4 e2 f1 92 04 58", NoReg},
		{"tileloadd", "c4 e2 7b 4b 04 58", NoReg},
		{"two segments", "64 2e 8b 00", NoReg},
		{"FS and GS", "64 65 8b 00", NoReg},
	} {
		code := unhex(t, c.code)
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if m, ok := in.MemOperand(); ok {
			t.Errorf("%s: got %+v", c.name, m)
		}
		if got := in.RMReg(); got != c.reg {
			t.Errorf("%s: RMReg %d, want %d", c.name, got, c.reg)
		}
	}
}
