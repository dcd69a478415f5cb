//go:build tamago

package prove

import (
	"bufio"
	"strconv"

	"sonde/arch/amd64/insn"
	"sonde/kernel/mm"
	"sonde/kprobes"
	"sonde/ktest/suites/targets"
)

// poison gives a probe code that changes all that it may.
var poison = targets.Poisons()

// observe returns the probe on b, for that way.
func observe(b *boundary, way string) *observer {
	o := &observer{k: kprobes.Kprobe{Addr: b.Addr, PreHandler: watch}, b: b, size: uint64(b.In.Len)}
	switch way {
	case "step":
		o.k.PostHandler = post
	case "fused", "stub":
		poison(&o.k)
	}
	code := b.Orig[:b.In.Len]
	if way == "jump" {
		o.size = uint64(b.region)
		code = kprobes.Original(b.Addr, uintptr(b.region))
	}
	if o.mem, o.uses = b.In.MemOperand(); o.mem.Seg != insn.SegNone {
		o.uses = false
	}
	behind := true
	insn.Walk(code, func(off int, in insn.Inst) bool {
		behind = true
		switch in.Flow {
		case insn.Next:
		case insn.Jcc, insn.Loop:
			o.to = append(o.to, in.Target(uint64(b.Addr)+uint64(off)))
		case insn.Jmp, insn.Call:
			o.to = append(o.to, in.Target(uint64(b.Addr)+uint64(off)))
			behind = false
		default:
			o.free, behind = true, false
		}
		return true
	})
	if behind {
		o.to = append(o.to, uint64(b.Addr)+o.size)
	}
	return o
}

// ascertain finds out whose next hit is known: all places that the instruction leads to have
// probes whose handlers are called. Stack checks are left out: the first hit makes all of one, and
// if the stack grows, no handler is called.
func ascertain(probes []*observer) {
	probed := map[uint64]bool{}
	checks := func(o *observer) bool { return o.b.Check.Len > 0 || o.b.Within > 0 }
	for _, o := range probes {
		if !o.refused && !checks(o) {
			probed[uint64(o.b.Addr)] = true
		}
	}
	for _, o := range probes {
		o.sure = !o.free && !checks(o)
		for _, to := range o.to {
			o.sure = o.sure && probed[to]
		}
	}
}

// kernels reports whether 16 bytes at addr are memory of the kernel that can be read, and
// no code: LEA names that too, and there are breakpoints in it.
// Context: trap.
func kernels(addr uint64) bool {
	a := uintptr(addr)
	for _, r := range [...]mm.Range{mm.ROData, mm.Data, mm.Heap} {
		if r.Contains(a) && r.Contains(a+15) {
			return true
		}
	}
	return false
}

// transitions prints what has been observed, a line each, all numbers hexadecimal:
//
//	t WAY ADDR SIZE MEM SURE BEFORE... AFTER...
//
// MEM is where the 16 bytes of memory are, 0: there are none. SURE is 1 if each place that
// the instruction leads to has a probe, so that AFTER is what it has led to. BEFORE and AFTER are the
// general registers by their numbers, flags, IP, the memory as two words, and two words
// at SP - 8; in AFTER "=" is: as before.
func (p *prover) transitions(probes []*observer) {
	w := bufio.NewWriterSize(p.out, 64<<10)
	line := make([]byte, 0, 1000)
	n := 0
	for _, o := range probes {
		if o.state.Load() != ended {
			continue
		}
		n++
		line = append(append(line[:0], "t "...), o.way...)
		sure := uint64(0)
		if o.sure {
			sure = 1
		}
		for _, v := range []uint64{uint64(o.b.Addr), o.size, o.before.addr, sure} {
			line = strconv.AppendUint(append(line, ' '), v, 16)
		}
		before, after := o.before.words(), o.after.words()
		for _, v := range before {
			line = strconv.AppendUint(append(line, ' '), v, 16)
		}
		for i, v := range after {
			if line = append(line, ' '); v == before[i] {
				line = append(line, '=')
			} else {
				line = strconv.AppendUint(line, v, 16)
			}
		}
		w.Write(append(line, '\n'))
	}
	w.Flush()
	p.count("transitions", n)
}

func (s *snapshot) words() []uint64 {
	return append(append(append([]uint64{}, s.general[:]...), s.flags, s.ip), s.mem[0], s.mem[1], s.stack[0], s.stack[1])
}
