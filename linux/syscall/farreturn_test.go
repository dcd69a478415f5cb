package syscall

import (
	"encoding/binary"
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// The address of the instruction of a simulated program that faults.
const faultIP = 0x401002

// TestFarReturns: the kernel executes far returns that the emulator cannot execute, or sends the
// program a signal. The program used to fault for ever.
func TestFarReturns(t *testing.T) {
	const cs, ss, sp = amd64.SelUserCode, amd64.SelUserData, scratch
	for _, c := range []struct {
		name  string
		code  string
		size  int
		stack []uint64
		sp    uint64 // afterwards; 0: SIGSEGV
		flags uint64
	}{
		{"lretq", "\x48\xcb", 8, []uint64{faultIP, cs}, sp + 16, 0x246},
		{"lretq 24", "\x48\xca\x18\x00", 8, []uint64{faultIP, cs}, sp + 40, 0x246},
		{"lretl", "\xcb", 4, []uint64{faultIP, cs}, sp + 8, 0x246},
		{"what is above the selector", "\x48\xcb", 8, []uint64{faultIP, 0xabc0000 | cs}, sp + 16, 0x246},
		{"iretq", "\x48\xcf", 8, []uint64{faultIP, cs, 0x893, sp + 100, ss}, sp + 100, 0x893},
		{"iretl", "\xcf", 4, []uint64{faultIP, cs, 0x847, sp + 4, ss}, sp + 4, 0x847},
		{"the kernel's code", "\x48\xcb", 8, []uint64{faultIP, amd64.SelKernelCode}, 0, 0},
		{"no code", "\x48\xcb", 8, []uint64{faultIP, ss}, 0, 0},
		{"the kernel's stack", "\x48\xcf", 8, []uint64{faultIP, cs, 0x202, sp, amd64.SelKernelData}, 0, 0},
		{"another instruction", "\x48\x8b\x00", 8, nil, 0, 0},
	} {
		s := run(t, func(p *player) {
			const flags = abi.MAP_PRIVATE | abi.MAP_ANONYMOUS | abi.MAP_FIXED
			p.Call(nMmap, faultIP&^0xfff, 4096, abi.PROT_READ|abi.PROT_WRITE, flags, minus, 0)
			p.Poke(faultIP, []byte(c.code))
			for i, w := range c.stack {
				p.Poke(sp+uint64(i*c.size), binary.LittleEndian.AppendUint64(nil, w)[:c.size])
			}
			p.Regs().SP, p.Regs().Flags = sp, 0x246
			p.Fault(14, 1, sp)
			if r := p.Regs(); r.SP != c.sp || r.Flags != c.flags {
				t.Errorf("%s: SP %#x, want %#x; flags %#x, want %#x", c.name, r.SP, c.sp, r.Flags, c.flags)
			}
		})
		if want := proc.Killed(abi.SIGSEGV); s != 0 && c.sp != 0 || c.sp == 0 && s != want {
			t.Errorf("%s: status %#x", c.name, s)
		}
	}
	// The stack is not mapped yet, and a fault maps it; or it cannot be mapped.
	run(t, func(p *player) {
		at := uint64(p.Call(nMmap, 0, 8192, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, minus, 0))
		p.Call(nMmap, faultIP&^0xfff, 4096, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS|abi.MAP_FIXED, minus, 0)
		p.Poke(faultIP, []byte("\x48\xcb"))
		p.Poke64(at+4096, cs)
		var addr uint64
		var code int32
		action(p, abi.SIGSEGV, func(p *player, _, info, _ uint64) {
			i := siginfoAt(p, info)
			addr, code = i.Addr(), i.Code
		}, abi.SA_SIGINFO|abi.SA_ONSTACK, 0)
		p.Poke64(scratch, scratch+0x1000)
		p.Poke64(scratch+16, 0x4000)
		p.Call(nAltstack, scratch, 0)
		sp := p.Regs().SP
		p.Call(nMunmap, at+4096, 4096)
		p.Regs().SP = at + 4096 - 8
		p.Poke64(at+4096-8, faultIP)
		p.Fault(14, 0, at+4096)
		if addr != at+4096 || code != abi.SEGV_MAPERR {
			t.Errorf("a stack that ends: signal for %#x, code %d", addr, code)
		}
		p.Regs().SP = sp
	})
}
