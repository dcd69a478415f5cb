//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
)

// TestAProcessorRepeats: what a processor does is the same, whatever else is not.
func TestAProcessorRepeats(t *testing.T) {
	const at, heap = uint64(imageAt + 1<<64 - shift + 0x1000), uint64(heapAt + 1<<64 - shift)
	blank := make([]byte, 64)
	for _, c := range []struct {
		name, code string
		change     func(t *transition)
		want       string
	}{
		{"ADDQ BX, AX", "\x48\x01\xd8", func(t *transition) { t.after.regs[0] = 12; t.after.flags |= 0x4 }, "the same"},
		{"with a wrong sum", "\x48\x01\xd8", func(t *transition) { t.after.regs[0] = 13; t.after.flags |= 0x4 }, "different"},
		{"with a wrong flag", "\x48\x01\xd8", func(t *transition) { t.after.regs[0] = 12 }, "different"},
		{"with another register changed", "\x48\x01\xd8", func(t *transition) { t.after.regs[0], t.after.regs[9] = 12, 1; t.after.flags |= 0x4 }, "different"},
		{"ANDQ BX, AX, whose AF is undefined", "\x48\x21\xd8", func(t *transition) { t.after.regs[0] = 5; t.after.flags |= 0x14 }, "the same"},
		{"PUSHQ AX", "\x50", func(t *transition) { t.after.regs[insn.RSP] -= 8; t.after.stack[0] = 5 }, "the same"},
		{"that has not pushed", "\x50", func(t *transition) { t.after.regs[insn.RSP] -= 8 }, "different"},
		{"INCQ (BX)", "\x48\xff\x03", func(t *transition) {
			t.before.regs[insn.RBX], t.after.regs[insn.RBX], t.mem = heap, heap, heap
			t.before.mem[0], t.after.mem[0] = 6, 7
		}, "the same"},
		{"that has not stored", "\x48\xff\x03", func(t *transition) {
			t.before.regs[insn.RBX], t.after.regs[insn.RBX], t.mem = heap, heap, heap
			t.before.mem[0], t.after.mem[0] = 6, 6
		}, "different"},
		{"CMPB $0, 0xb1(R14), when it was asked to yield", "\x41\x80\xbe\xb1\x00\x00\x00\x00", func(t *transition) {
			t.before.regs[insn.R14], t.after.regs[insn.R14], t.mem = heap, heap, heap+0xb1
			t.after.mem[0] = 1
		}, "not repeated: the scheduler"},
		{"the same elsewhere", "\x41\x80\xbe\xb1\x00\x00\x00\x00", func(t *transition) {
			t.before.regs[insn.R14], t.after.regs[insn.R14], t.mem = heap, heap, heap+0x2b1
			t.after.mem[0] = 1
		}, "different"},
		{"MOVQ $0, 0xa8(BX), of another goroutine", "\x48\xc7\x83\xa8\x00\x00\x00\x00\x00\x00\x00", func(t *transition) {
			t.before.regs[insn.RBX], t.after.regs[insn.RBX], t.mem = heap, heap, heap+0xa8
			t.before.mem[0], t.after.mem[1] = 5, 0x100
		}, "not repeated: the scheduler"},
		{"the same with another byte", "\x48\xc7\x83\xa8\x00\x00\x00\x00\x00\x00\x00", func(t *transition) {
			t.before.regs[insn.RBX], t.after.regs[insn.RBX], t.mem = heap, heap, heap+0xa8
			t.before.mem[0], t.after.mem[1] = 5, 0x10000
		}, "different"},
		{"SUBQ $24, SP; PUSHQ AX, where SP is negative", "\x48\x83\xec\x18\x50", func(t *transition) {
			t.after.regs[insn.RSP] -= 32
			t.after.flags |= 0x94
			t.before.stack, t.after.stack = [2]uint64{}, [2]uint64{}
		}, "the same"},
		{"JNE over 2 bytes", "\x75\x02", func(t *transition) { t.after.ip += 2 }, "the same"},
		{"with code in between", "\x75\x02", func(t *transition) {}, "not repeated: other code"},
		{"that has not branched", "\x75\x02", func(t *transition) { t.sure = 1 }, "different"},
		{"ADDQ BX, AX that goes on elsewhere", "\x48\x01\xd8", func(t *transition) {
			t.after.regs[0], t.sure = 12, 1
			t.after.flags |= 0x4
			t.after.ip++
		}, "different"},
		{"MOVQ (BX), AX, not observed", "\x48\x8b\x03", func(t *transition) {}, "not repeated: its memory"},
		{"POPQ AX", "\x58", func(t *transition) {
			t.before.stack[1], t.after.stack[1] = 9, 9
			t.after.regs[0] = 9
			t.after.regs[insn.RSP] += 8
		}, "the same"},
		{"SUBQ $-128, SP; POPQ BP", "\x48\x83\xec\x80\x5d", func(t *transition) {
			t.after.regs[insn.RBP] = 9
			t.after.regs[insn.RSP] += 136
		}, "not repeated: what it pops"},
		{"CLI", "\xfa", func(t *transition) {}, "not repeated: it is the kernel's"},
		{"SYSCALL", "\x0f\x05", func(t *transition) {}, "not repeated: it is the kernel's"},
		{"ADDSD X0, X1", "\xf2\x0f\x58\xc8", func(t *transition) {}, "not repeated: it is about vector"},
	} {
		copy(blank, c.code)
		p, err := newProcessor(&code{addr: at, bytes: blank})
		if err != nil {
			t.Skip(err)
		}
		x := transition{way: "boosted", addr: at, size: uint64(len(c.code))}
		x.before.regs[0], x.before.regs[insn.RBX], x.before.regs[insn.RSP] = 5, 7, heap+0x1000
		x.before.flags, x.before.ip = 0x202, at
		x.after = x.before
		x.after.ip += x.size
		c.change(&x)
		p.repeat(x.line())
		p.close()
		if len(p.counts) != 1 || !strings.HasPrefix(p.counts[0].Name, c.want) || (c.want == "different") != (len(p.findings) > 0) {
			t.Errorf("%s: %v, want %s\n%q", c.name, p.counts, c.want, p.findings)
		}
	}
}

// line is t as the machine prints it, without its first word.
func (t *transition) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %x %x %x %x", t.way, t.addr, t.size, t.mem, t.sure)
	before := t.before.fields()
	for _, v := range before {
		fmt.Fprintf(&b, " %x", *v)
	}
	for i, v := range t.after.fields() {
		if *v == *before[i] {
			b.WriteString(" =")
		} else {
			fmt.Fprintf(&b, " %x", *v)
		}
	}
	return b.String()
}
