package place

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

const at = 0x40_1000

func code(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decide(t *testing.T, s string) *Plan {
	t.Helper()
	p, err := Decide(code(t, s), at)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return p
}

// TestWays: the first way is the one that is taken.
func TestWays(t *testing.T) {
	for _, c := range []struct{ name, code, ways string }{
		{"nop", "90", "nothing boosted stepped"},
		{"long nop", "66 2e 0f 1f 84 00 00 00 00 00", "nothing boosted stepped"},
		{"endbr64", "f3 0f 1e fa", "nothing boosted stepped"},
		{"xchg r8, rax", "49 90", "boosted stepped"},
		{"lock nop faults", "f0 90", "boosted stepped"},
		{"push rbp", "55", "boosted stepped"},
		{"push [rax]", "ff 30", "boosted stepped"},
		{"pop r12", "41 5c", "boosted stepped"},
		{"mov rbp, rsp", "48 89 e5", "boosted stepped"},
		{"mov with 66", "66 89 c3", "boosted stepped"},
		{"lea", "48 8d 05 00 00 00 00", "boosted stepped"},
		{"lea eip-relative", "67 48 8d 05 00 00 00 00", "stepped"},
		{"load eip-relative", "67 48 8b 05 00 00 00 00", "stepped"},
		{"mov to memory", "48 89 07", "boosted stepped"},
		{"jmp", "eb 00", "emulated"},
		{"je", "0f 84 00 00 00 00", "emulated"},
		{"loop", "e2 fe", "emulated"},
		{"call", "e8 00 00 00 00", "emulated"},
		{"call fs:", "64 ff 10", "emulated"},
		{"stray REX before ret", "48 f3 c3", "emulated"},
		{"ret with 66", "66 c3", "stepped"},
		{"popf", "9d", "emulated stepped"},
		{"popf with 66", "66 9d", "stepped"},
		{"pushf", "9c", "boosted emulated"},
		{"cli", "fa", "boosted"},
		{"sti", "fb", "boosted"},
		{"hlt", "f4", "boosted"},
		{"ud2", "0f 0b", "boosted stepped"},
		{"int 80h", "cd 80", "boosted"},
		{"syscall", "0f 05", "system call"},
		{"sysenter", "0f 34", "boosted"},
		{"far ret", "48 cb", "stepped"},
		{"iret", "48 cf", "stepped"},
		{"mov ss", "8e d0", "boosted"},
		{"xbegin", "c7 f8 00 00 00 00", "boosted"},
		{"rep movs", "f3 48 a5", "boosted stepped"},
		{"wrfsbase", "f3 48 0f ae d0", "boosted stepped"},
		{"vmovdqu", "c5 fe 6f 05 00 00 00 00", "boosted stepped"},
		{"EVEX", "62 f1 fe 48 6f 05 00 00 00 00", "boosted stepped"},
	} {
		p, got := decide(t, c.code), []string{}
		for w := Nothing; w < ways; w++ {
			if n, err := p.As(w); err == nil {
				got = append(got, w.String())
			} else if !errors.Is(err, syscall.EOPNOTSUPP) || n != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if s := strings.Join(got, " "); s != c.ways || p.Way.String() != got[0] || p.Len() != len(code(t, c.code)) {
			t.Errorf("%s: %s, taken %v; want %s", c.name, s, p.Way, c.ways)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ code, why string }{
		{"cc", "it is a breakpoint already"},
		{"cd 03", "it is a breakpoint already"},
		{"f1", "it is a breakpoint already"},
		{"ff 18", "it is a far branch"},
		{"0f 01 c1", "it calls the hypervisor"},
		{"f3 0f 01 ec", "it returns from an interrupt"},
		{"0f 01 d7", "it transfers control by special rules"},
		{"66 74 00", "processors disagree about a branch with operand-size prefix"},
		{"66 c7 f8 00 00", "it belongs to a memory transaction"},
		{"06", "not an instruction"},
		{"48", "longer than the given bytes"},
	} {
		p, err := Decide(code(t, c.code), at)
		if p != nil || !errors.Is(err, syscall.EILSEQ) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.code, err, c.why)
		}
	}
}

// memory is a CPU with one word of memory.
type memory struct {
	r           amd64.Regs
	fs, gs      uint64
	addr, value uint64
}

func (m *memory) Regs() *amd64.Regs       { return &m.r }
func (m *memory) Bases() (fs, gs *uint64) { return &m.fs, &m.gs }

func (m *memory) Load(addr uint64) (uint64, error) {
	if addr != m.addr {
		return 0, syscall.EFAULT
	}
	return m.value, nil
}

func (m *memory) Store(addr, v uint64) error {
	if addr != m.addr {
		return syscall.EFAULT
	}
	m.value = v
	return nil
}

func (m *memory) Writable(addr uint64) error {
	if addr != m.addr {
		return syscall.EFAULT
	}
	return nil
}

// TestFaultsChangeNothing: of a call whose operand is there and whose stack is not, too.
func TestFaultsChangeNothing(t *testing.T) {
	const wild = 1 << 60
	for _, c := range []struct {
		name, code string
		m          memory
		want       Fault
	}{
		{"call", "e8 00 00 00 00", memory{}, Fault{amd64.VEC_PF, 6, 0x7ff8, syscall.EFAULT}},
		{"ret", "c3", memory{}, Fault{amd64.VEC_PF, 4, 0x8000, syscall.EFAULT}},
		{"ret, stack nowhere", "c3", memory{r: amd64.Regs{SP: wild}}, Fault{Vector: amd64.VEC_SS, Addr: wild}},
		{"call, stack nowhere", "e8 00 00 00 00", memory{r: amd64.Regs{SP: wild}}, Fault{Vector: amd64.VEC_SS, Addr: wild - 8}},
		{"call [rax]", "ff 10", memory{addr: 0x100}, Fault{amd64.VEC_PF, 6, 0x7ff8, syscall.EFAULT}},
		{"call [rax], no memory", "ff 10", memory{}, Fault{amd64.VEC_PF, 4, 0x100, syscall.EFAULT}},
		{"call [rdx]", "ff 12", memory{r: amd64.Regs{DX: wild}}, Fault{Vector: amd64.VEC_GP, Addr: wild}},
		{"call [rsp]", "ff 14 24", memory{r: amd64.Regs{SP: wild}}, Fault{Vector: amd64.VEC_SS, Addr: wild}},
		{"jmp to nowhere", "ff 20", memory{addr: 0x100, value: wild}, Fault{Vector: amd64.VEC_GP, Addr: wild}},
		{"ret to nowhere", "c3", memory{addr: 0x8000, value: wild}, Fault{Vector: amd64.VEC_GP, Addr: wild}},
	} {
		m := c.m
		m.r.AX, m.r.IP, m.r.Flags = 0x100, at, 0x202
		if m.r.SP == 0 {
			m.r.SP = 0x8000
		}
		before := m
		err := decide(t, c.code).Do(&m)
		var f *Fault
		if !errors.As(err, &f) || *f != c.want || m != before {
			t.Errorf("%s: %+v, want %+v; changed: %v", c.name, f, c.want, m != before)
		}
	}
}

// TestPopfSetsTF: it is the program's wish.
func TestPopfSetsTF(t *testing.T) {
	m := memory{addr: 0x8000, value: amd64.RFLAGS_TF | amd64.RFLAGS_CF, r: amd64.Regs{SP: 0x8000, Flags: 0x202, CS: 3}}
	p := decide(t, "9d")
	if err := p.Do(&m); err != nil || m.r.Flags != 0x303 {
		t.Errorf("%v, %#x", err, m.r.Flags)
	}
	if !p.DueDB(m.r.Flags) || p.DueDB(0x202) {
		t.Error("a #DB is due where TF was set")
	}
}

// TestSlot reads what a slot holds.
func TestSlot(t *testing.T) {
	const near, far = at + 0x100_0000, 0x7000_0000_0000
	for _, c := range []struct {
		name, code string
		way        Way
		slot       uint64
		want       string // "": out of reach
	}{
		{"boosted", "48 89 07", Boost, near, "48 89 07 e9 fb ff ff fe"},
		{"stepped", "48 89 07", Step, near, "48 89 07 e9 fb ff ff fe"},
		{"boosted far", "48 89 07", Boost, far, "48 89 07 ff 25 00 00 00 00 03 10 40 00 00 00 00 00"},
		{"RIP-relative", "48 8b 05 00 00 00 01", Boost, near, "48 8b 05 00 00 00 00 e9 fb ff ff fe"},
		{"RIP-relative boosted far", "48 8b 05 00 00 00 01", Boost, far, ""},
		{"by RSI", "48 8b 05 00 00 00 01", Step, far, "48 8b 86 00 00 00 01 ff 25 00 00 00 00 07 10 40 00 00 00 00 00"},
		{"by RDI", "48 8b 35 00 00 00 01", Step, far, "48 8b b7 00 00 00 01 ff 25 00 00 00 00 07 10 40 00 00 00 00 00"},
		{"REX.B is cleared", "49 8b 05 00 00 00 01", Step, far, "48 8b 86 00 00 00 01 ff 25 00 00 00 00 07 10 40 00 00 00 00 00"},
		{"R14 is not RSI", "4c 8b 35 00 00 00 01", Step, far, "4c 8b b6 00 00 00 01 ff 25 00 00 00 00 07 10 40 00 00 00 00 00"},
		{"shrx rdi, [rip], rsi", "c4 e2 cb f7 3d 00 00 00 01", Step, far, "c4 e2 cb f7 bb 00 00 00 01 ff 25 00 00 00 00 09 10 40 00 00 00 00 00"},
		{"VEX.B is cleared", "c4 c2 cb f7 3d 00 00 00 01", Step, far, "c4 e2 cb f7 bb 00 00 00 01 ff 25 00 00 00 00 09 10 40 00 00 00 00 00"},
		{"two-byte VEX", "c5 f9 6f 05 00 00 00 01", Step, far, "c5 f9 6f 86 00 00 00 01 ff 25 00 00 00 00 08 10 40 00 00 00 00 00"},
		{"EVEX", "62 d1 fe 48 6f 05 00 00 00 01", Step, far, "62 f1 fe 48 6f 86 00 00 00 01 ff 25 00 00 00 00 0a 10 40 00 00 00 00 00"},
		{"eip-relative", "67 8b 05 00 00 00 01", Step, near, "67 8b 86 00 00 00 01 e9 fb ff ff fe"},
		{"xbegin", "c7 f8 00 00 00 01", Boost, near, "c7 f8 00 00 00 00 e9 fb ff ff fe"},
		{"xbegin far", "c7 f8 00 00 00 01", Boost, far, ""},
	} {
		p, err := decide(t, c.code).As(c.way)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b, err := p.Slot(c.slot)
		if got := fmt.Sprintf("% x", b); got != c.want || (c.want == "") != errors.Is(err, syscall.ERANGE) || cap(b) > SlotSize {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

// TestThereAndBack: whatever ends the visit to the slot, the program sees no trace of it.
func TestThereAndBack(t *testing.T) {
	const slot = 0x7000_0000_0000
	begin := amd64.Regs{IP: at, SI: 5, Flags: 0x202}
	p, _ := decide(t, "48 8b 05 00 00 00 01").As(Step)
	n := uint64(p.Len())
	for _, c := range []struct {
		name     string
		ip, want uint64
	}{
		{"executed", slot + n, at + n},
		{"faulted", slot, at},
		{"one instruction later", at + n, at + n},
		{"elsewhere", 0x1234, 0x1234},
	} {
		r := begin
		s := p.Enter(&r, slot)
		if r.IP != slot || r.SI != at+n || r.Flags != 0x302 {
			t.Fatalf("%+v", r)
		}
		r.IP = c.ip
		want := begin
		if want.IP = c.want; !p.After(&r, slot, s) || r != want {
			t.Errorf("%s: %+v, want %+v", c.name, r, want)
		}
	}
	rep, _ := decide(t, "f3 48 a5").As(Step)
	r := begin
	s := rep.Enter(&r, slot)
	if rep.After(&r, slot, s) || r.IP != slot || r.Flags != 0x302 {
		t.Errorf("a REP in the middle: %+v", r)
	}
	if rep.Undo(&r, slot, s); r != begin {
		t.Errorf("%+v", r)
	}
	popf, _ := decide(t, "9d").As(Step)
	r = amd64.Regs{IP: at, Flags: 0x202}
	s = popf.Enter(&r, slot)
	r.IP = slot + 1 // it has loaded TF
	if popf.After(&r, slot, s); r.IP != at+1 || r.Flags != 0x302 {
		t.Errorf("%+v", r)
	}
}

func TestCall(t *testing.T) {
	r := amd64.Regs{IP: at, AX: 39, Flags: 0x246}
	if decide(t, "0f 05").Call(&r); r != (amd64.Regs{IP: at + 2, CX: at + 2, R11: 0x246, AX: 39, Flags: 0x246}) {
		t.Errorf("%+v", r)
	}
}

// TestPlansAreEqual: of one instruction at one place.
func TestPlansAreEqual(t *testing.T) {
	if a, b := decide(t, "90"), decide(t, "90"); *a != *b || a.In.Flow != insn.Next {
		t.Errorf("%+v, %+v", a, b)
	}
}
