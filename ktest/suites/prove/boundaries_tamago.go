//go:build tamago

package prove

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/place"
	"sonde/optprobe"
)

// usual is about how many instructions are probed at once: there are slots for more, but one that
// goes wrong must be easy to find.
const usual = 3000

// A boundary is an instruction of a function, as a place for probes.
type boundary struct {
	place.Place
	fn     string
	region int // bytes that a jump here replaces, 0: there can be none
}

// decoder finds instructions.
var decoder = place.Decoder{Code: kprobes.Original}

// boundariesOf returns the instructions of fn that can be probed, and how many cannot.
func (p *prover) boundariesOf(fn kallsyms.Symbol) (all []*boundary, refused int) {
	var scan optprobe.Scan
	code := kprobes.Original(uintptr(fn.Addr), uintptr(fn.Size))
	scan.Read(optprobe.At(uintptr(fn.Addr)))
	_, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		b := &boundary{fn: fn.Name}
		if err := b.Read(&decoder, fn, uintptr(fn.Addr)+uintptr(off)); err != nil {
			refused++
			return true
		}
		if size, why := scan.Check(off); why.Reason == optprobe.Fine && b.Within == 0 {
			b.region = size
			if b.Check.Len > 0 { // with its last branch
				b.region = max(size, int(b.Check.Len)+6)
			}
		}
		all = append(all, b)
		return true
	})
	if err != nil {
		p.count("functions-undecoded", 1)
		return nil, 0
	}
	return all, refused
}

// boundaries probes all instructions of the functions of the range, those of some
// functions at once, in each way.
func (p *prover) boundaries(from, to int) {
	var group []*boundary
	refused, n := 0, 0
	for i, fn := range within(probeable(), from, to) {
		more, r := p.boundariesOf(fn)
		group, refused, n = append(group, more...), refused+r, n+1
		if p.next = from + i + 1; len(group) >= p.perGroup {
			p.everyWay(group)
			group = nil
		}
	}
	p.everyWay(group)
	p.jumps(true)
	p.count("functions", n)
	p.count("refused", refused)
}

// everyWay probes the instructions of group in each way.
func (p *prover) everyWay(group []*boundary) {
	if len(group) == 0 {
		return
	}
	name := fmt.Sprintf("%s to %s", group[0].fn, group[len(group)-1].fn)
	p.count("boundaries", len(group))
	p.jumps(false)
	p.try(name, "breakpoint", group)
	p.try(name, "step", group)
	p.try(name, "stub", group)
	for _, round := range rounds(group) {
		p.try(name, "jump", round)
		p.try(name, "fused", round)
	}
}

// rounds divides those that can have a jump so that no two regions of a round overlap.
func rounds(group []*boundary) (all [][]*boundary) {
	var ends []uintptr
next:
	for _, b := range group {
		if b.region == 0 {
			continue
		}
		for i, end := range ends {
			if b.Addr >= end {
				all[i], ends[i] = append(all[i], b), b.Addr+uintptr(b.region)
				continue next
			}
		}
		all, ends = append(all, []*boundary{b}), append(ends, b.Addr+uintptr(b.region))
	}
	return all
}

// try probes the instructions of list at once and does the work.
func (p *prover) try(name, way string, list []*boundary) {
	what := way + "s on " + name
	p.at(p.next, what)
	probes := p.set(list, way)
	switch way {
	case "jump", "fused":
		p.jumps(true)
	case "stub":
		p.jumps(false)
	}
	ks := make([]*kprobes.Kprobe, len(probes))
	for i, o := range probes {
		ks[i], o.way = &o.k, o.how(way)
		if !strings.HasSuffix(o.way, "-refused") && !fuses(way) {
			o.state.Store(waits) // from now on: before, a jump was a breakpoint
		}
	}
	observing.Store(true)
	p.same(what)
	observing.Store(false) // the next hit is not at the next instruction once probes go
	kprobes.UnregisterKprobes(ks)
	p.jumps(false)
	p.tell(probes, way)
}

// tell prints what became of probes.
func (p *prover) tell(probes []*observer, way string) {
	done, reached := map[string]int{}, map[string]int{}
	var at []byte
	for _, o := range probes {
		l := o.k.Ledger()
		p.account(fmt.Sprintf("%s at %s", way, kallsyms.Where(uint64(o.b.Addr))), l)
		if done[o.way]++; l.Entered > 0 {
			reached[o.way]++
			at = strconv.AppendUint(append(at, ' '), uint64(o.b.Addr), 16)
		}
	}
	if way == "breakpoint" {
		fmt.Fprintf(p.out, "r%s\n", at)
	}
	for how, n := range done {
		p.count(how, n)
		p.count(how+"-reached", reached[how])
	}
	p.transitions(probes)
}

// set registers a probe on each of list, as far as it can be in that way.
func (p *prover) set(list []*boundary, way string) (probes []*observer) {
	var ks []*kprobes.Kprobe
	for _, b := range list {
		if way == "step" && b.Way(true) == place.Refused {
			continue
		}
		o := observe(b, way)
		o.index = int32(len(probes)) + 1
		probes, ks = append(probes, o), append(ks, &o.k)
	}
	observed = probes
	for i := range last {
		last[i].index = 0
	}
	if kprobes.RegisterKprobes(ks) != nil {
		p.oneByOne(probes, way)
	}
	ascertain(probes)
	return probes
}

// oneByOne registers probes that cannot be registered together: a copy of an instruction
// may not reach its operand, which only its slot decides.
func (p *prover) oneByOne(probes []*observer, way string) {
	for _, o := range probes {
		err := kprobes.RegisterKprobe(&o.k)
		o.refused = err != nil
		switch {
		case errors.Is(err, syscall.EILSEQ):
			p.count("refused-when-registered", 1)
		case err != nil:
			p.finding("%s on %s: %v", way, kallsyms.Where(uint64(o.b.Addr)), err)
		}
	}
}

// fuses reports whether hits run code that changes all that it may: what is wrongly taken to be unused makes the
// work's results differ.
func fuses(way string) bool { return way == "fused" || way == "stub" }

// how names what hits of o did about the instruction.
func (o *observer) how(way string) string {
	switch how := o.b.Way(way == "step"); {
	case way == "jump" && kprobes.Optimized(o.b.Addr):
		return "jump"
	case way == "jump":
		return "jump-refused"
	case fuses(way):
		if is, _, _ := o.k.Way(); is != "fused" {
			return way + "-refused"
		}
		return way
	case way == "step" && how == place.Emulated:
		return "emulated-post"
	default:
		return [...]string{"refused", "emulated", "branched", "decided", "within", "boosted", "stepped", "detoured"}[how]
	}
}
