//go:build tamago

package optimized

import (
	"reflect"
	"strings"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
	"sonde/sysctl"
)

const (
	listFile   = "/sys/kernel/debug/kprobes/list"
	sysctlFile = "/proc/sys/debug/kprobes-optimization"
	sysctlName = "debug.kprobes-optimization"

	// jmpRel and int3 are what a probed instruction begins with.
	jmpRel, int3 = insn.OpJmp, insn.OpInt3

	targetsPkg = "sonde/ktest/suites/targets."
)

// entry returns the address of a function's code.
func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// pre is a pre-handler that does nothing.
func pre(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

// post is a post-handler that does nothing.
func post(*kprobes.Kprobe, *amd64.Regs, uint64) {}

// at returns a probe with handler h, not registered yet.
func at(addr uintptr, h kprobes.PreHandler) *kprobes.Kprobe {
	return &kprobes.Kprobe{Addr: addr, PreHandler: h}
}

// register registers ks or ends the case.
func register(t *suites.T, ks ...*kprobes.Kprobe) { t.Must(kprobes.RegisterKprobes(ks)) }

// optimized registers ks and ends the case unless all are hit by a jump then.
func optimized(t *suites.T, ks ...*kprobes.Kprobe) {
	register(t, ks...)
	optimize(t)
	for _, k := range ks {
		hasJump(t, "after registering", k.Addr)
		if !kprobes.Optimized(k.Addr) {
			kprobes.UnregisterKprobes(ks)
			t.Fatalf("not optimized")
		}
	}
}

// jumps gives a jump to all of ks.
func jumps(t *suites.T, ks ...*kprobes.Kprobe) {
	optimize(t)
	for _, k := range ks {
		if !kprobes.Optimized(k.Addr) {
			t.Errorf("%s is not optimized", name(k.Addr))
		}
	}
}

// optimize does at once what the optimizer's thread does after a while.
func optimize(t *suites.T) { t.Must(optprobe.Optimize()) }

// jumpTarget returns where the jump at addr leads.
func jumpTarget(addr uintptr) uintptr {
	b := text.Bytes(addr, insn.JumpSize)
	return addr + insn.JumpSize + uintptr(int32(uint32(b[1])|uint32(b[2])<<8|uint32(b[3])<<16|uint32(b[4])<<24))
}

// hasJump checks that the probe at addr is hit by a jump into memory for
// detours, and hasNone that it is not.
func hasJump(t *suites.T, when string, addr uintptr) {
	code := text.Bytes(addr, insn.JumpSize)
	if !kprobes.Optimized(addr) || code[0] != jmpRel || !kprobes.Detours().Contains(jumpTarget(addr)) {
		t.Errorf("%s: %s is not a jump to a detour: % x", when, name(addr), code)
	}
}

func hasNone(t *suites.T, when string, addr uintptr) {
	code := text.Bytes(addr, insn.JumpSize)
	if kprobes.Optimized(addr) || code[0] == jmpRel {
		t.Errorf("%s: %s is still a jump: % x", when, name(addr), code)
	}
}

// haveBreakpoints checks that all text is as in the image except for an INT3 in the
// first byte of each of ks.
func haveBreakpoints(t *suites.T, when string, ks ...*kprobes.Kprobe) {
	for _, k := range ks {
		hasNone(t, when, k.Addr)
		if code := text.Bytes(k.Addr, insn.JumpSize); code[0] != int3 {
			t.Errorf("%s: %s is % x, want an INT3", when, name(k.Addr), code)
		}
	}
	if n := suites.TextChanged(); n != len(ks) {
		t.Errorf("%s: %d bytes of text are changed by %d breakpoints", when, n, len(ks))
	}
}

// restored checks that the code at addr is as in the image.
func restored(t *suites.T, when string, addr uintptr) {
	have, want := string(text.Bytes(addr, 16)), string(kprobes.Original(addr, 16))
	if have != want || have[0] == int3 {
		t.Errorf("%s: %s is % x, not % x", when, name(addr), have, want)
	}
}

// name returns symbol+offset.
func name(addr uintptr) string { return string(kallsyms.Symbolize(make([]byte, 0, 200), uint64(addr))) }

// boundaries returns the offsets of fn's instructions.
func boundaries(t *suites.T, fn kallsyms.Symbol) (offs []uintptr) {
	_, err := insn.Walk(kprobes.Original(uintptr(fn.Addr), uintptr(fn.Size)), func(off int, _ insn.Inst) bool {
		offs = append(offs, uintptr(off))
		return true
	})
	t.Must(err)
	return offs
}

// account checks what k has counted, and that nothing is unexplained.
func account(t *suites.T, k *kprobes.Kprobe, what string, hits, missed uint64) {
	l := k.Ledger()
	if l.Handled != hits || l.Missed() != missed || l.Unexplained() != 0 {
		t.Errorf("%s: %+v, unexplained %d; want %d hits and %d missed", what, l, l.Unexplained(), hits, missed)
	}
}

// clean checks that no trace of a probe is left.
func clean(t *suites.T) {
	if n := suites.TextChanged(); n != 0 {
		t.Errorf("%d bytes of text are not as they were", n)
	}
	if n := kprobes.Slots().Used(); n != 0 {
		t.Errorf("%d slots are in use", n)
	}
	// The optimizer's thread may be about to return one that came too late.
	t.Until("detours to be given back", func() bool { return optprobe.Counts().Detours == 0 })
}

// setSysctl sets the sysctl.
func setSysctl(t *suites.T, v string) { t.Must(sysctl.Set(sysctlName, v)) }

// listed returns what the list says after the symbol of the probe at addr.
func listed(t *suites.T, addr uintptr) string {
	list, err := vfs.ReadFile(listFile)
	t.Must(err)
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, kallsymsName(addr)) {
			_, status, _ := strings.Cut(line, kallsymsName(addr))
			return strings.TrimSpace(status)
		}
	}
	return "nothing"
}

// kallsymsName is addr as the list has it.
func kallsymsName(addr uintptr) string {
	n, _, _ := strings.Cut(name(addr), "/0x")
	return n
}
