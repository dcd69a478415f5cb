//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes/place"
	"sonde/optprobe"
)

// encodings is part 2 without the machine: it also covers what no work reaches.
var encodings = Part{
	Name: "encodings",
	Says: "every different instruction of the image, and every region that a jump would replace, executed on the host's processor from random " +
		"registers, vector registers and memory: the copy in a slot (run and stepped), the emulation, and the copy in a detour do what the original does",
	Units: encodingUnits,
}

const encodingParts = 16

// states are how many random ones each instruction is executed from.
const states, deepStates = 2, 50

func encodingUnits(m *Machines) (all []Unit, err error) {
	n := states
	if m.Deep {
		n = deepStates
	}
	for i := range encodingParts {
		all = append(all, Unit{
			Name: fmt.Sprintf("%02d of %d, %d states", i+1, encodingParts, n), Cost: time.Duration(n) * 6 * time.Second,
			Run: func(ctx context.Context) Outcome { return m.encodings(ctx, i, n) },
		})
	}
	return all, nil
}

// encodings tries the functions of one part of the image.
func (m *Machines) encodings(ctx context.Context, part, n int) Outcome {
	code, err := newCode(m.Image)
	if err != nil {
		return Outcome{Err: err}
	}
	all := code.functions
	code.functions = nil
	for i := part; i < len(all); i += encodingParts {
		code.functions = append(code.functions, all[i])
	}
	return tryAll(ctx, code, uint64(part), n)
}

// tryAll tries all instructions of the code's functions, each from n states.
func tryAll(ctx context.Context, code *code, seed uint64, n int) (o Outcome) {
	runtime.LockOSThread() // never unlocked: ptrace is a matter of threads
	code = code.shifted()
	t := &trial{processor: processor{code: code, heap: dataSize}, rng: rand.New(rand.NewPCG(7, seed)), done: map[string]bool{}, states: n, o: &o}
	if o.Err = t.start(); o.Err != nil {
		return o
	}
	defer t.stop()
	for _, f := range code.functions {
		if o.Err = ctx.Err(); o.Err == nil {
			o.Err = t.function(f)
		}
		if o.Err != nil {
			return o
		}
	}
	return o
}

// A trial executes instructions of the image in the child process.
type trial struct {
	processor
	rng  *rand.Rand
	done map[string]bool // by their bytes
	o    *Outcome

	states int
}

// function tries the instructions of f that are new, and its regions.
func (t *trial) function(f function) (err error) {
	code := t.code.at(f.addr)[:f.size]
	insn.Walk(code, func(off int, in insn.Inst) bool {
		addr, one := f.addr+uint64(off), code[off:][:in.Len]
		if !t.done[string(one)] {
			t.done[string(one)] = true
			err = t.instruction(addr, one, &in)
		}
		if r := region(code[off:]); err == nil && r != nil && !t.done[string(r)+"+"] {
			t.done[string(r)+"+"] = true
			err = t.region(addr, r)
		}
		return err == nil
	})
	return err
}

// region returns the instructions that a jump at the beginning of code would replace;
// nil if one of them cannot be tried, or branches into them: there is no jump then.
func region(code []byte) []byte {
	n := 0
	var to []uint64
	_, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		if off >= insn.JumpSize {
			return false
		}
		if in.Flow.Direct() {
			to = append(to, in.Target(uint64(off)))
		}
		if n = off + int(in.Len); untried(&in) != "" || in.Trait.Has(insn.String) {
			n = 0
			return false
		}
		return true
	})
	within := func(to uint64) bool { return to > 0 && to < uint64(n) }
	if n < insn.JumpSize || err != nil && n == 0 || slices.ContainsFunc(to, within) {
		return nil
	}
	return code[:n]
}

// untried says why an instruction cannot be executed by a process, "" if it can.
func untried(in *insn.Inst) string {
	switch why := particular(in, true); {
	case in.Prefix.Has(insn.PVEX|insn.PEVEX) && vector(in):
		return "it is AVX, which is off in the kernel"
	case why == "it is about vector registers or x87" && in.Map == insn.Map0F && in.Opcode == 0xAE:
		return why // it saves or loads all of them
	case why == "it is about vector registers or x87" || why == "it is a string instruction":
		return ""
	default:
		return why
	}
}

// slot is where copies are put, within reach of all the code.
const slot = imageAt + imageSize - 0x1000

// instruction tries the ways of the instruction at addr.
func (t *trial) instruction(addr uint64, code []byte, in *insn.Inst) error {
	var p place.Place
	whole := place.Decoder{Code: func(uintptr, uintptr) []byte { return slices.Clone(code) }}
	if err := p.Read(&whole, kallsyms.Symbol{Name: "f", Addr: addr, Size: uint64(len(code))}, uintptr(addr)); err != nil {
		t.o.add("refused", 1)
		return nil
	}
	t.o.add("instructions", 1)
	if why := untried(in); why != "" {
		t.o.add("not tried: "+why, 1)
		return nil
	}
	for range t.states {
		s := t.random(addr, code)
		want, err := t.run(*s, addr, addr, uint64(len(code)))
		if err != nil {
			return err
		}
		if p.NeedsSlot() {
			err = t.copies(&p, s, want)
		} else {
			t.same("emulated", addr, code, want, t.emulated(&p, *s))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copies tries the copy in the slot, run and stepped.
func (t *trial) copies(p *place.Place, s, want *allState) error {
	copied, ok := p.CopyFor(slot)
	if !ok {
		if p.In.RIPRel {
			t.o.add("refused: no copy reaches the operand", 1)
			return nil
		}
		t.o.Findings = append(t.o.Findings, fmt.Sprintf("%#x: % x: no copy", uint64(p.Addr)-shift, p.Orig[:p.In.Len]))
		return nil
	}
	if _, err := t.mem.WriteAt(copied, slot); err != nil {
		return err
	}
	code := p.Orig[:p.In.Len]
	if p.Bare(false) == place.Boosted {
		got, err := t.run(*s, slot, slot, uint64(len(copied)))
		if err != nil {
			return err
		}
		if got.ip == slot { // it has faulted
			got.ip = uint64(p.Addr)
		}
		t.same("boosted", uint64(p.Addr), code, want, got)
	}
	if p.Bare(true) == place.Stepped {
		got, err := t.run(*s, slot, slot, uint64(len(code)))
		if err != nil {
			return err
		}
		if got.ip-slot < 32 {
			got.ip += uint64(p.Addr) - slot
		}
		t.same("stepped", uint64(p.Addr), code, want, got)
	}
	return nil
}

// region tries the copy of a region as a detour has it.
func (t *trial) region(addr uint64, code []byte) error {
	c, why := optprobe.Relocate(code, addr, slot)
	if why.Reason != optprobe.Fine {
		return nil
	}
	t.o.add("regions", 1)
	s := t.random(addr, code)
	want, err := t.run(*s, addr, addr, uint64(len(code)))
	if err != nil {
		return err
	}
	if _, err := t.mem.WriteAt(c.Bytes(), slot); err != nil {
		return err
	}
	got, err := t.run(*s, slot, slot, uint64(len(c.Bytes())))
	if err != nil {
		return err
	}
	if at, ok := c.Original(got.ip); ok { // it has faulted
		if got.ip = at.IP; at.Pushed { // and fallen below SP then
			clear(got.bytes(got.regs[insn.RSP]))
			clear(want.bytes(got.regs[insn.RSP]))
			got.regs[insn.RSP] += 8
		}
	}
	t.same("detoured", addr, code, want, got)
	return nil
}

// emulated does what kprobes.perform does.
func (t *trial) emulated(p *place.Place, s allState) *allState {
	var r amd64.Regs
	for i := range s.regs {
		*r.Register(int8(i)) = s.regs[i]
	}
	r.Flags, r.IP = s.flags, uint64(p.Addr)
	var v uint64
	if addr, ok := p.Op.Loads(&r, 0); ok {
		b := s.bytes(addr)
		if b == nil {
			s.signal, s.ip = syscall.SIGSEGV, uint64(p.Addr)
			return &s
		}
		v = binary.LittleEndian.Uint64(b)
	}
	if w, ok := p.Op.Pushes(&r); ok {
		binary.LittleEndian.PutUint64(s.bytes(r.SP-8), w)
	}
	p.Op.Finish(&r, v)
	r.General(&s.regs)
	s.flags, s.ip, s.signal, s.fx = r.Flags, r.IP, syscall.SIGTRAP, [512]byte{} // it has no vector registers
	return &s
}

// same compares the results of an instruction, or of a region.
func (t *trial) same(way string, addr uint64, code []byte, want, got *allState) {
	t.o.add(way, 1)
	if what := want.differs(got); what != "" {
		t.o.Findings = append(t.o.Findings, fmt.Sprintf("%s at %#x (% x): %s", way, addr-shift, code, what))
	}
}
