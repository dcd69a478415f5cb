package emulate

import (
	"encoding/hex"
	"strings"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

const (
	addr = 0x401000
	sp   = 0x7000
	base = 0xAB_0000_0000 // of FS and GS
)

// start is the registers at the start of each case.
func start() amd64.Regs {
	return amd64.Regs{
		AX: 0x11110, CX: 2, DX: 0x22220, BX: 0x33330, SP: sp, BP: 0x44440, SI: 0x55550, DI: 0x66660,
		R8: 0x800, R9: 0x900, R10: 0xA00, R11: 0xB00, R12: 0xC00, R13: 0xD00, R14: 0xE00, R15: 0xF00,
		IP: addr, CS: amd64.SelKernelCode, Flags: amd64.RFLAGS_FIXED | amd64.RFLAGS_IF,
	}
}

const (
	fixed  = amd64.RFLAGS_FIXED
	loaded = 0x123456 // what stands at any address that is loaded from
)

// cases are golden: code, what it loads and pushes (0: nothing), and its effect on the registers
// other than IP.
var cases = []struct {
	name, code string
	regs       func(r *amd64.Regs) // before
	load       uint64
	push       uint64
	ip         uint64
	after      func(r *amd64.Regs)
}{
	{name: "jmp rel8", code: "eb 10", ip: addr + 0x12},
	{name: "jmp rel8 back", code: "eb fe", ip: addr},
	{name: "jmp rel32", code: "e9 00 01 00 00", ip: addr + 0x105},
	{name: "jne taken", code: "75 10", ip: addr + 0x12},
	{name: "je not taken", code: "74 10", ip: addr + 2},
	{name: "je taken", code: "0f 84 ff ff ff 7f", regs: flags(amd64.RFLAGS_ZF), ip: addr + 6 + 1<<31 - 1},
	{name: "jl taken, by OF", code: "7c 10", regs: flags(amd64.RFLAGS_OF), ip: addr + 0x12},
	{name: "jl not taken, by OF", code: "7c 10", regs: flags(amd64.RFLAGS_SF | amd64.RFLAGS_OF), ip: addr + 2},
	{name: "ja not taken, by CF", code: "77 10", regs: flags(amd64.RFLAGS_CF), ip: addr + 2},
	{name: "jp taken", code: "7a 10", regs: flags(amd64.RFLAGS_PF), ip: addr + 0x12},
	{name: "loop taken", code: "e2 10", ip: addr + 0x12, after: func(r *amd64.Regs) { r.CX = 1 }},
	{name: "loop ends", code: "e2 10", regs: func(r *amd64.Regs) { r.CX = 1 }, ip: addr + 2, after: func(r *amd64.Regs) { r.CX = 0 }},
	{name: "loope ends", code: "e1 10", ip: addr + 2, after: func(r *amd64.Regs) { r.CX = 1 }},
	{name: "jrcxz", code: "e3 10", regs: func(r *amd64.Regs) { r.CX = 0 }, ip: addr + 0x12},
	{name: "jecxz", code: "67 e3 10", regs: func(r *amd64.Regs) { r.CX = 1 << 32 }, ip: addr + 0x13},
	{name: "call", code: "e8 00 01 00 00", push: addr + 5, ip: addr + 0x105, after: down},
	{name: "call rax", code: "ff d0", push: addr + 2, ip: 0x11110, after: down},
	{name: "call r15", code: "41 ff d7", push: addr + 3, ip: 0xF00, after: down},
	{name: "call rsp: as it was before the push", code: "ff d4", push: addr + 2, ip: sp, after: down},
	{name: "call [rip+8]", code: "ff 15 08 00 00 00", load: addr + 6 + 8, push: addr + 6, ip: loaded, after: down},
	{name: "call [rsp+8]: as it was before the push", code: "ff 54 24 08", load: sp + 8, push: addr + 4, ip: loaded, after: down},
	{name: "call [r12+rcx*8-8]", code: "41 ff 54 cc f8", load: 0xC00 + 16 - 8, push: addr + 5, ip: loaded, after: down},
	{name: "call fs:[rdx]", code: "64 ff 12", load: base + 0x22220, push: addr + 3, ip: loaded, after: down},
	{name: "call gs:[78h]", code: "65 ff 14 25 78 00 00 00", load: base + 0x78, push: addr + 8, ip: loaded, after: down},
	{name: "call gs:[ecx-3]: cut before the base is added", code: "65 67 ff 51 fd", load: base + 0xFFFFFFFF, push: addr + 5, ip: loaded, after: down},
	{name: "jmp rdi", code: "ff e7", ip: 0x66660},
	{name: "jmp [rsi+rax*1]", code: "ff 24 06", load: 0x55550 + 0x11110, ip: loaded},
	{name: "jmp fs:[rip+0]", code: "64 ff 25 00 00 00 00", load: base + addr + 7, ip: loaded},
	{name: "notrack jmp [rbp]", code: "3e ff 65 00", load: 0x44440, ip: loaded},
	{name: "ret", code: "c3", load: sp, ip: loaded, after: func(r *amd64.Regs) { r.SP += 8 }},
	{name: "rep ret", code: "f3 c3", load: sp, ip: loaded, after: func(r *amd64.Regs) { r.SP += 8 }},
	{name: "ret 16", code: "c2 10 00", load: sp, ip: loaded, after: func(r *amd64.Regs) { r.SP += 24 }},
	{name: "ret 0xfff8: not signed", code: "c2 f8 ff", load: sp, ip: loaded, after: func(r *amd64.Regs) { r.SP += 0x10000 }},
	{name: "pushf", code: "9c", regs: flags(amd64.RFLAGS_ZF | amd64.RFLAGS_RF | amd64.RFLAGS_TF),
		push: fixed | amd64.RFLAGS_ZF | amd64.RFLAGS_TF, ip: addr + 1, after: down},
	{name: "popf", code: "9d", regs: flags(amd64.RFLAGS_TF | amd64.RFLAGS_CF | amd64.RFLAGS_IF | amd64.RFLAGS_IOPL), load: sp, ip: addr + 1,
		after: func(r *amd64.Regs) { r.SP += 8; r.Flags = fixed | amd64.RFLAGS_TF | loaded&popKernel }},
	{name: "popf in ring 3", code: "9d", regs: func(r *amd64.Regs) { r.CS = 3; r.Flags |= amd64.RFLAGS_CF | amd64.RFLAGS_IF }, load: sp, ip: addr + 1,
		after: func(r *amd64.Regs) { r.SP += 8; r.Flags = fixed | amd64.RFLAGS_IF | loaded&popUser }},
	{name: "cli", code: "fa", ip: addr + 1, after: func(r *amd64.Regs) { r.Flags = fixed }},
	{name: "sti", code: "fb", regs: func(r *amd64.Regs) { r.Flags = fixed }, ip: addr + 1, after: func(r *amd64.Regs) { r.Flags |= amd64.RFLAGS_IF }},
}

func down(r *amd64.Regs) { r.SP -= 8 }

func flags(f uint64) func(*amd64.Regs) { return func(r *amd64.Regs) { r.Flags = fixed | f } }

// decode returns the emulation of code at addr.
func decode(t *testing.T, code string) (Op, bool) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	in, err := insn.Decode(b)
	if err != nil || int(in.Len) != len(b) {
		t.Fatalf("%s: %v, length %d", code, err, in.Len)
	}
	return New(&in, addr)
}

func TestEveryInstruction(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			op, ok := decode(t, c.code)
			if !ok {
				t.Fatal("there is no emulation")
			}
			r := start()
			if c.regs != nil {
				c.regs(&r)
			}
			want := r
			if c.after != nil {
				c.after(&want)
			}
			want.IP = c.ip
			before := r
			segment := uint64(0)
			if op.Seg() != insn.SegNone {
				segment = base
			}
			load, loads := op.Loads(&r, segment)
			push, pushes := op.Pushes(&r)
			if loads != (c.load != 0) || load != c.load {
				t.Errorf("loads from %#x, %v; want %#x", load, loads, c.load)
			}
			if pushes != (c.push != 0) || push != c.push {
				t.Errorf("pushes %#x, %v; want %#x", push, pushes, c.push)
			}
			// A failed access changes nothing.
			if r != before {
				t.Errorf("changed before the accesses are done:\n%+v\n%+v", r, before)
			}
			if op.Finish(&r, loaded); r != want {
				t.Errorf("got\n%+v, want\n%+v", r, want)
			}
		})
	}
}

func TestOthersAreRefused(t *testing.T) {
	for _, c := range []struct{ name, code string }{
		{"mov", "48 89 c3"},
		{"call with 66", "66 ff d0"},
		{"far call", "ff 18"},
		{"far return", "cb"},
		{"FS and CS", "64 2e ff 10"},
		{"eip-relative", "67 ff 25 00 00 00 00"},
		{"pushf with 66", "66 9c"},
		{"xbegin", "c7 f8 00 00 00 00"},
	} {
		if op, ok := decode(t, c.code); ok || op != (Op{}) {
			t.Errorf("%s: %+v", c.name, op)
		}
	}
	if _, ok := New(&insn.Inst{}, addr); ok {
		t.Error("nothing can be emulated")
	}
}

func TestAllocatesNothing(t *testing.T) {
	op, ok := decode(t, "41 ff 54 cc f8")
	if !ok {
		t.Fatal("call [r12+rcx*8-8] cannot be emulated")
	}
	n := testing.AllocsPerRun(100, func() {
		r := start()
		_, l := op.Loads(&r, 0)
		_, p := op.Pushes(&r)
		if op.Finish(&r, loaded); !l || !p || r.IP != loaded {
			t.Fatal(r.IP)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
