//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/prologue"
)

// A transition is what an instruction, or the region of a jump, has done in the
// machine: see ktest/suites/prove/transition_tamago.go.
type transition struct {
	way           string
	addr, size    uint64
	mem           uint64
	sure          uint64 // 1: a wrong place that it has led to has been observed, too
	before, after observed
}

// observed is general registers by number, flags, IP, two words of memory, and two of
// the stack.
type observed struct {
	regs       [16]uint64
	flags, ip  uint64
	mem, stack [2]uint64
}

func (o *observed) fields() (all []*uint64) {
	for i := range o.regs {
		all = append(all, &o.regs[i])
	}
	return append(all, &o.flags, &o.ip, &o.mem[0], &o.mem[1], &o.stack[0], &o.stack[1])
}

func parseTransition(line string) (*transition, error) {
	t := new(transition)
	f := strings.Fields(line)
	before, after := t.before.fields(), t.after.fields()
	to := append(append([]*uint64{&t.addr, &t.size, &t.mem, &t.sure}, before...), after...)
	if len(f) != len(to)+1 {
		return nil, fmt.Errorf("a transition with %d fields", len(f))
	}
	t.way = f[0]
	for i, p := range to {
		if f[i+1] == "=" {
			*p = *to[i-len(before)]
			continue
		}
		var err error
		if *p, err = strconv.ParseUint(f[i+1], 16, 64); err != nil {
			return nil, fmt.Errorf("a transition: %w", err)
		}
	}
	return t, nil
}

// asked is the stack limit of a goroutine that is to yield: the runtime's stackPreempt.
const asked = ^uint64(0x521)

// goroutine is at most how many bytes are at R14, the runtime's g: its timer interrupt
// writes there that the goroutine is to yield.
const goroutine = 0x200

// preempt is where in a g that is written.
const preempt = 0xb1

// try repeats t and returns what became of it. What differs is a finding.
func (p *processor) try(t *transition) string {
	undefined, why := p.comparable(t)
	if why != "" {
		return "not repeated: " + why
	}
	got, signal, err := p.repeated(t)
	switch {
	case err != nil:
		p.findings = append(p.findings, err.Error())
		return "not repeated: an error"
	case signal != syscall.SIGTRAP:
		p.findings = append(p.findings, fmt.Sprintf("%s at %#x: the processor raises signal %d", t.way, t.addr, signal))
		return "different"
	case t.after.mem != got.mem && slices.Contains(t.after.mem[:], asked):
		return "not repeated: the scheduler wrote to the stack limit meanwhile"
	case t.after.mem != got.mem && got.mem == t.before.mem && t.mem-t.before.regs[insn.R14] < goroutine:
		return "not repeated: the scheduler wrote to the goroutine meanwhile"
	case t.told(&got):
		return "not repeated: the scheduler wrote to another goroutine meanwhile"
	case got.ip != t.after.ip && t.sure == 0:
		return "not repeated: other code came in between"
	}
	p.forget(t, &got, undefined)
	if got != t.after {
		p.findings = append(p.findings, fmt.Sprintf("%s at %#x: %s", t.way, t.addr, different(got, t.after)))
		return "different"
	}
	return "the same as a processor's"
}

// told reports whether memory differs in the one byte that tells a goroutine to yield, of a g whose
// address is in a register: the scheduler is about to run it.
func (t *transition) told(got *observed) bool {
	n, at := 0, uint64(0)
	for i := range 8 * uint64(len(got.mem)) {
		if was, is := byte(got.mem[i/8]>>(i%8*8)), byte(t.after.mem[i/8]>>(i%8*8)); was != is {
			n, at = n+1, t.mem+i
			if was != 0 || is != 1 {
				return false
			}
		}
	}
	return n == 1 && slices.Contains(t.before.regs[:], at-preempt)
}

// forget makes the same what need not be: undefined flags; of a stack check all but what its branch
// depends on; what a detour pushes below SP; where a jump was hit after the stack check that its
// detour makes first, what that leaves; and the sign of a shifted SP.
func (p *processor) forget(t *transition, got *observed, undefined uint64) {
	const decides = amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	const compared = decides | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_SF | amd64.RFLAGS_DF | amd64.RFLAGS_OF
	mask := compared &^ undefined
	switch checked := prologue.Find(p.code.at(t.after.ip)); {
	case t.way == "decided" || t.way == "within":
		mask &= decides
		if next, err := insn.Decode(p.code.at(t.after.ip)); err != nil || next.Flow != insn.Jcc {
			mask = 0 // the branch is still to come
		}
	case t.way == "jump" && checked.Kind != prologue.None:
		mask = 0
		got.regs[insn.R12], t.after.regs[insn.R12] = 0, 0
	}
	if _, computes := usesStack(p.code.at(t.addr)[:t.size]); computes {
		mask &^= sf // of a shifted SP
	}
	got.flags, t.after.flags = got.flags&mask, t.after.flags&mask
	for i := range got.stack {
		if at := t.before.regs[insn.RSP] - 8 + uint64(i)*8; at < t.after.regs[insn.RSP] {
			got.stack[i], t.after.stack[i] = 0, 0
		}
	}
}

// different says in which fields.
func different(processor, machine observed) string {
	var b strings.Builder
	names := strings.Fields("AX CX DX BX SP BP SI DI R8 R9 R10 R11 R12 R13 R14 R15 flags IP memory memory+8 stack-8 stack")
	have := machine.fields()
	for i, want := range processor.fields() {
		if *want != *have[i] {
			fmt.Fprintf(&b, "%s is %#x, a processor makes it %#x; ", names[i], *have[i], *want)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// most is how many instructions a region can have, and one more.
const most = 8

// repeated executes what t did.
func (p *processor) repeated(t *transition) (got observed, signal syscall.Signal, err error) {
	var r syscall.PtraceRegs
	if err = syscall.PtraceGetRegs(p.pid, &r); err != nil {
		return
	}
	for i, to := range registers(&r) {
		*to = t.before.regs[i]
	}
	const own = amd64.RFLAGS_IF | 2
	r.Rip, r.Orig_rax, r.Eflags, r.Fs_base = shifted(t.addr), ^uint64(0), t.before.flags&0xcd5|own, shift
	code := p.code.at(t.addr)[:t.size]
	pushes, _ := usesStack(code)
	if pushes {
		r.Rsp = shifted(r.Rsp)
	}
	stack := t.before.regs[insn.RSP] - 8
	if err = p.write(stack, t.before.stack); err == nil && t.mem != 0 {
		err = p.write(t.mem, t.before.mem)
	}
	if err == nil && t.mem != 0 && wantsPrefix(code, pushes) {
		r.Rip--
		var restore func() error
		restore, err = p.prefix(t.addr)
		defer func() { err = errors.Join(err, restore()) }()
	}
	if err == nil {
		err = syscall.PtraceSetRegs(p.pid, &r)
	}
	for range most {
		if err != nil {
			return
		}
		if signal, err = p.step(); err != nil || signal != syscall.SIGTRAP {
			return
		}
		err = syscall.PtraceGetRegs(p.pid, &r)
		if r.Rip == shifted(t.after.ip) || r.Rip-shifted(t.addr) >= t.size {
			break
		}
	}
	for i, v := range registers(&r) {
		got.regs[i] = *v
	}
	got.flags, got.ip = r.Eflags, r.Rip
	if got.stack, err = p.read(stack); err == nil && t.mem != 0 {
		got.mem, err = p.read(t.mem)
	}
	got.unshift(&t.after)
	return
}

// registers are the general registers by their numbers.
func registers(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{
		&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi,
		&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15,
	}
}

// comparable says which flags the instructions of t leave undefined, and why they
// cannot be repeated, "" if they can.
func (p *processor) comparable(t *transition) (undefined uint64, why string) {
	text := p.code.at(t.addr)
	if t.size > uint64(len(text)) {
		return 0, "it is not code"
	}
	n, err := insn.Walk(text[:t.size], func(off int, in insn.Inst) bool {
		undefined |= undefinedFlags(&in)
		if why == "" {
			why = particular(&in, t.mem != 0 && off == 0)
		}
		if why == "" && off > 0 && in.Trait.Has(insn.Pop) { // what is before it may change SP
			why = "what it pops was not observed"
		}
		return true
	})
	if err != nil || n != int(t.size) {
		return 0, "it is not code"
	}
	return undefined, why
}
