//go:build tamago

package user

import (
	"reflect"

	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("user/system_call_keeps_registers", callKeeps)
	suites.Add("user/registers_changed_in_a_system_call_arrive", callChanges)
	suites.Add("user/exceptions_come_back", exceptions)
	suites.Add("user/kernel_has_one_stack_segment", oneSegment)
	suites.Add("user/registers_that_no_program_can_have", impossible)
	suites.Add("user/bases_of_fs_and_gs", bases)
	suites.Add("user/flags_stay_a_programs", flags)
}

// fill gives each register of c but IP, SP and flags a value of its own.
func fill(c *ring3.Context, n uint64) {
	r := reflect.ValueOf(&c.Regs).Elem()
	for i := range r.NumField() {
		switch r.Type().Field(i).Name {
		case "IP", "SP", "Flags", "CS", "SS":
		default:
			r.Field(i).SetUint(n << 32 * uint64(i+1))
		}
	}
}

// callKeeps makes system calls, entered by IRETQ at first and by SYSRET later.
func callKeeps(t *suites.T) {
	const rounds = 1000
	calls, _, _, _, _, _ := pieces()
	p := load(t, piece(t, calls))
	defer p.Close()
	c := p.thread()
	fill(c, 1)
	want := c.Regs
	for i := range uint64(rounds) {
		if e := settle(c); e != ring3.SystemCall {
			t.Fatalf("call %d: %s", i, what(c, e))
		}
		for _, r := range []*uint64{&want.AX, &want.BX, &want.DX, &want.SI, &want.DI, &want.BP, &want.R8, &want.R9,
			&want.R10, &want.R12, &want.R13, &want.R14, &want.R15} {
			*r++
		}
		want.Vector, want.Err = uint64(ring3.SystemCall), want.AX
		want.IP, want.Flags = c.Regs.IP, c.Regs.Flags
		want.CX, want.R11 = want.IP, want.Flags
		if c.Regs != want {
			t.Fatalf("call %d: registers\n%+v, want\n%+v", i, c.Regs, want)
		}
		if c.Regs.Flags&(amd64.RFLAGS_IF|amd64.RFLAGS_IOPL) != amd64.RFLAGS_IF {
			t.Fatalf("flags %#x", c.Regs.Flags)
		}
		if i%3 == 2 { // by IRETQ
			c.Regs.CX, want.CX = 5, 5
		}
	}
}

// callChanges: SYSRET changes CX and R11. It used to be executed also after a system call that had
// set them, as sigreturn does.
func callChanges(t *suites.T) {
	calls, _, _, _, shows, _ := pieces()
	p := load(t, append(piece(t, calls), piece(t, shows)...))
	defer p.Close()
	at := uint64(codeAt + len(piece(t, calls)))
	c := p.thread()
	if e := settle(c); e != ring3.SystemCall {
		t.Fatalf("%s", what(c, e))
	}
	c.Regs.IP, c.Regs.CX, c.Regs.R11 = at, 0x1234, 0x5678
	if e := settle(c); e != amd64.VEC_UD {
		t.Fatalf("%s", what(c, e))
	}
	top := int(stackIP - stackAt)
	if cx, r11 := *word(p.stack, top-8), *word(p.stack, top-16); cx != 0x1234 || r11 != 0x5678 {
		t.Errorf("CX %#x, R11 %#x, want 0x1234, 0x5678", cx, r11)
	}
}

const unmapped = 0x5000_0000_0000

// raised is code and the exception that it raises: at which byte, with which error code,
// for a page fault at which address. QEMU raises no #XM, and #GP for #SS.
var raised = []struct {
	name   string
	code   []byte
	vector ring3.Event
	off    uint64
	err    uint64
	addr   uint64
	set    func(p *program, c *ring3.Context)
}{
	{"divide by zero", []byte{0x31, 0xc9, 0xf7, 0xf1}, amd64.VEC_DE, 2, 0, 0, nil},
	{"single step", []byte{0x90, 0x90}, amd64.VEC_DB, 1, 0, 0, func(_ *program, c *ring3.Context) { c.Regs.Flags |= amd64.RFLAGS_TF }},
	{"int3", []byte{0x90, 0xcc}, amd64.VEC_BP, 2, 0, 0, nil},
	{"int 4", []byte{0xcd, 4}, amd64.VEC_OF, 2, 0, 0, nil},
	{"ud2", []byte{0x90, 0x0f, 0x0b}, amd64.VEC_UD, 1, 0, 0, nil},
	{"hlt", []byte{0xf4}, amd64.VEC_GP, 0, 0, 0, nil},
	{"read unmapped", append(mov(unmapped), 0x48, 0x8b, 0), amd64.VEC_PF, 10, amd64.PF_U, unmapped, nil},
	{"write unmapped", append(mov(unmapped+8), 0x48, 0x89, 0), amd64.VEC_PF, 10, amd64.PF_U | amd64.PF_W, unmapped + 8, nil},
	{"write its code", append(mov(codeAt+8), 0x48, 0x89, 0), amd64.VEC_PF, 10, amd64.PF_U | amd64.PF_W | amd64.PF_P, codeAt + 8, nil},
	{"execute data", append(mov(dataAt+8), 0xff, 0xe0), amd64.VEC_PF, dataAt + 8 - codeAt, amd64.PF_U | amd64.PF_I | amd64.PF_P, dataAt + 8, nil},
	{"nil", []byte{0x31, 0xc0, 0x8b, 0}, amd64.VEC_PF, 2, amd64.PF_U, 0, nil},
	{"not canonical", append(mov(1<<62), 0x8b, 0), amd64.VEC_GP, 10, 0, 0, nil},
	{"x87", []byte{0xdb, 0xe3, 0xd9, 0x2c, 0x24, 0xd9, 0xee, 0xd9, 0xee, 0xde, 0xf9, 0x9b, 0x90}, amd64.VEC_MF, 11, 0, 0,
		func(p *program, c *ring3.Context) { *word(p.stack, stackIP-stackAt) = 0x340 }},
}

func exceptions(t *suites.T) {
	for _, x := range raised {
		c, e := once(t, x.code, x.set)
		if x.name == "not canonical" && e == amd64.VEC_PF && c.CR2 == 1<<62 {
			t.Logf("%s: this QEMU (8.2.2 is one) reports a page fault instead", x.name)
			continue
		}
		if e != x.vector || c.Regs.IP != codeAt+x.off || c.Regs.Err != x.err || e == amd64.VEC_PF && c.CR2 != x.addr {
			t.Errorf("%s: %s, want %#x at +%#x, %#x, %#x", x.name, what(c, e), uint64(x.vector), x.off, x.err, x.addr)
		}
		if c.Regs.CS != amd64.SelUserCode || c.Regs.SS != amd64.SelUserData {
			t.Errorf("%s: CS %#x SS %#x", x.name, c.Regs.CS, c.Regs.SS)
		}
	}
}

// oneSegment: SS is the same after an exception as after a system call. It was 0, which QEMU
// takes for another mode: it had all of the kernel's code translated twice, and searched for
// each block again after each change from one to the other.
func oneSegment(t *suites.T) {
	var seen [20]uint64
	n := 0
	k := &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/user.served", PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		seen[n%len(seen)] = r.SS
		n++
		return 0
	}, PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) {}} // so that it is hit by a breakpoint
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	for range len(seen) / 2 { // an interrupt in between would hide it
		for _, code := range [][]byte{{0xcc}, {0x0f, 0x05}} {
			p := load(t, code)
			settle(p.thread())
			served(1)
			p.Close()
		}
	}
	for _, ss := range seen {
		if ss != amd64.SelKernelData {
			t.Fatalf("%x, want %x each time", seen, amd64.SelKernelData)
		}
	}
}

// impossible: what a program may ask Go code to put into a Context, as by sigreturn.
func impossible(t *suites.T) {
	hlt := []byte{0xf4}
	for _, x := range []struct {
		name string
		set  func(c *ring3.Context)
		ip   uint64
	}{
		{"IP in the kernel", func(c *ring3.Context) { c.Regs.IP = ^uint64(0) - 100 }, ^uint64(0) - 100},
		{"IP not canonical", func(c *ring3.Context) { c.Regs.IP = 1 << 47 }, 1 << 47},
		{"IP not canonical, by SYSRET", func(c *ring3.Context) { c.Regs.IP = 1 << 47; c.Regs.CX = 1 << 47; c.Regs.R11 = c.Regs.Flags }, 1 << 47},
		{"kernel segments", func(c *ring3.Context) { c.Regs.CS, c.Regs.SS = amd64.SelKernelCode, amd64.SelKernelData }, codeAt},
		{"no segments", func(c *ring3.Context) { c.Regs.CS, c.Regs.SS = 0, 0xffff }, codeAt},
		{"IOPL, no IF, VM", func(c *ring3.Context) { c.Regs.Flags = amd64.RFLAGS_IOPL | amd64.RFLAGS_VM | amd64.RFLAGS_VIP }, codeAt},
		{"FS not canonical", func(c *ring3.Context) { c.FSBase = 1 << 62 }, codeAt},
		{"GS not canonical", func(c *ring3.Context) { c.GSBase = 1 << 62 }, codeAt},
		{"SP not canonical", func(c *ring3.Context) { c.Regs.SP = 1 << 62 }, codeAt},
		{"MXCSR's reserved bits", func(c *ring3.Context) {
			fp := append([]byte(nil), c.FP()...)
			if fp[26], fp[27] = 0xff, 0xff; c.SetFP(fp) == nil {
				t.Errorf("set")
			}
		}, codeAt},
	} {
		c, e := once(t, hlt, func(_ *program, c *ring3.Context) { x.set(c) })
		if e != amd64.VEC_GP || c.Regs.IP != x.ip || c.Regs.Err != 0 {
			t.Errorf("%s: %s, want a #GP at %#x", x.name, what(c, e), x.ip)
		}
		if c.Regs.IP == codeAt && c.FSBase>>62 == 0 && c.GSBase>>62 == 0 &&
			(c.Regs.CS != amd64.SelUserCode || c.Regs.Flags&(amd64.RFLAGS_IF|amd64.RFLAGS_IOPL) != amd64.RFLAGS_IF) {
			t.Errorf("%s: CS %#x, flags %#x", x.name, c.Regs.CS, c.Regs.Flags)
		}
	}
}

// flags: with AC set the kernel would run without SMAP, and with DF its copies would go backwards. A
// system call clears both by FMASK; a trap does not clear them by itself.
func flags(t *suites.T) {
	const odd = amd64.RFLAGS_AC | amd64.RFLAGS_DF | amd64.RFLAGS_NT
	for name, code := range map[string][]byte{"trap": {0x0f, 0x0b}, "system call": {0x0f, 0x05}} {
		p := load(t, code)
		c := p.thread()
		c.Regs.Flags |= odd
		e := settle(c)
		kernel := cpu.IRQOff()
		cpu.IRQRestore(kernel)
		if kernel&odd != 0 || kernel&amd64.RFLAGS_IF == 0 {
			t.Errorf("%s: the kernel runs with flags %#x", name, kernel)
		}
		if c.Regs.Flags&odd != odd {
			t.Errorf("%s: flags %#x: %s", name, c.Regs.Flags, what(c, e))
		}
		p.Close()
	}
}

// bases: a program may set the bases of FS and GS itself, also to addresses of the kernel, which
// gives it no access.
func bases(t *suites.T) {
	_, _, _, _, _, code := pieces()
	p := load(t, piece(t, code))
	defer p.Close()
	kernel := ^uint64(0) &^ 0xffff
	for _, v := range [][2]uint64{{dataAt, codeAt}, {uint64(mm.Text.Start), kernel}, {0, 0}} {
		c := p.thread()
		c.Regs.AX, c.Regs.BX = v[0], v[1]
		if !has(7, 0, 1, 0) { // the instructions are not there, and CR4 does not pretend that they are
			if e := settle(c); e != amd64.VEC_UD {
				t.Errorf("%s", what(c, e))
			}
			continue
		}
		if e := settle(c); e != ring3.SystemCall || c.FSBase != v[0] || c.GSBase != v[1] {
			t.Errorf("FS %#x, GS %#x, want %#x: %s", c.FSBase, c.GSBase, v, what(c, e))
		}
		c.FSBase, c.GSBase = c.GSBase, c.FSBase
		if e := settle(c); e != amd64.VEC_UD || c.Regs.AX != v[1] || c.Regs.BX != v[0] {
			t.Errorf("FS %#x, GS %#x, want %#x swapped: %s", c.Regs.AX, c.Regs.BX, v, what(c, e))
		}
	}
}
