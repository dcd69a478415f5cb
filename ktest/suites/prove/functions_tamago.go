//go:build tamago

package prove

import (
	"fmt"
	"slices"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kprobes"
)

// pre, post and back are handlers that do nothing.
func pre(*kprobes.Kprobe, *amd64.Regs) int             { return 0 }
func post(*kprobes.Kprobe, *amd64.Regs, uint64)        {}
func back(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }

// A pair is an entry and a return probe on one function.
type pair struct {
	fn    kallsyms.Symbol
	entry *kprobes.Kprobe
	ret   *kprobes.Kretprobe
}

func newPair(fn kallsyms.Symbol) pair {
	return pair{
		fn:    fn,
		entry: &kprobes.Kprobe{Addr: uintptr(fn.Addr), PreHandler: pre},
		ret:   &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: uintptr(fn.Addr)}, Handler: back},
	}
}

// functions probes the entry and the return of each function of the range, one at a
// time: as a breakpoint, and, where that can be and the work comes there, as a jump.
func (p *prover) functions(from, to int) {
	entries, returns, jumped, hit := 0, 0, 0, 0
	for i, fn := range within(probeable(), from, to) {
		p.at(from+i+1, fn.Name)
		p.jumps(false)
		x := newPair(fn)
		e, r := p.register(&x)
		entries, returns = entries+e, returns+r
		if e == 0 {
			continue
		}
		p.same(fn.Name + ", breakpoint")
		p.jumps(true)
		if kprobes.Optimized(x.entry.Addr) {
			if jumped++; x.entry.Hits() > 0 { // else the work does not come there
				p.same(fn.Name + ", jump")
			}
		}
		if p.unregister([]pair{x}) > 0 {
			hit++
		}
	}
	p.jumps(true)
	p.count("entry-probes", entries)
	p.count("return-probes", returns)
	p.count("as-jumps", jumped)
	p.count("functions-hit", hit)
}

// register registers both, and says which of them are there. A return probe that
// cannot be is taken out of the pair.
func (p *prover) register(x *pair) (entry, ret int) {
	if err := kprobes.RegisterKprobe(x.entry); err != nil {
		p.count(refusal("entry", err), 1)
		return 0, 0
	}
	if err := kprobes.RegisterKretprobe(x.ret); err != nil {
		p.count(refusal("return", err), 1)
		x.ret = nil
		return 1, 0
	}
	return 1, 1
}

// unregister unregisters all, looks at their accounts, and returns how many were hit.
func (p *prover) unregister(all []pair) (hit int) {
	ks, rps := split(all)
	kprobes.UnregisterKretprobes(rps)
	kprobes.UnregisterKprobes(ks)
	for _, x := range all {
		l := x.entry.Ledger()
		p.account(x.fn.Name, l)
		if l.Handled > 0 {
			hit++
		}
		if x.ret != nil {
			p.explained(x.fn.Name+", return", x.ret.Ledger())
		}
	}
	return hit
}

// atOnce is how many functions get their jumps at once: with breakpoints in all of them
// the optimizer itself would be slow.
const atOnce = 300

// together probes the entries and the returns of all functions at once: with
// breakpoints, and then with jumps.
func (p *prover) together() {
	p.jumps(false)
	all, returns := p.accepted()
	p.at(0, "all functions, breakpoints")
	p.registerAll(all)
	p.same("all functions, breakpoints")
	hit := p.unregister(all)
	p.jumps(true)
	all = renewed(all)
	for some := range slices.Chunk(all, atOnce) {
		p.at(0, "all functions, jumps, up to "+some[0].fn.Name)
		p.registerAll(some)
		p.jumps(true)
	}
	p.at(0, "all functions, jumps")
	p.same("all functions, jumps")
	jumped := 0
	for _, x := range all {
		if kprobes.Optimized(x.entry.Addr) {
			jumped++
		}
	}
	if _, ok := kprobes.Detours().Next(); !ok {
		p.note(fmt.Sprintf("all functions at once: no detour was left after %d jumps; the other probes were hit by breakpoints", jumped))
	}
	p.same("all functions, jumps, again")
	p.unregister(all)
	p.count("entry-probes", len(all))
	p.count("return-probes", returns)
	p.count("as-jumps", jumped)
	p.count("functions-hit", hit)
	p.at(0, "no function any more")
	p.same("after all functions")
}

// renewed returns the same with new probes: calls of the old ones may be in flight.
func renewed(all []pair) (list []pair) {
	for _, x := range all {
		y := newPair(x.fn)
		if x.ret == nil {
			y.ret = nil
		}
		list = append(list, y)
	}
	return list
}

// accepted returns the pairs that can be registered, all at once: that is asked before,
// because each call of ours is slow when all functions have breakpoints.
func (p *prover) accepted() (all []pair, returns int) {
	for _, fn := range probeable() {
		d, err := kprobes.Describe("", uintptr(fn.Addr))
		if err != nil {
			p.count(refusal("entry", err), 1)
			continue
		}
		x := newPair(fn)
		if d.NoRet != "" {
			p.count("return-EINVAL", 1)
			x.ret = nil
		} else {
			returns++
		}
		all = append(all, x)
	}
	return all, returns
}

func (p *prover) registerAll(all []pair) {
	ks, rps := split(all)
	if err := kprobes.RegisterKprobes(ks); err != nil {
		p.finding("all functions: %v", err)
	}
	if err := kprobes.RegisterKretprobes(rps); err != nil {
		p.finding("all functions: %v", err)
	}
}

// split returns the entry probes and the return probes of all.
func split(all []pair) (ks []*kprobes.Kprobe, rps []*kprobes.Kretprobe) {
	for _, x := range all {
		ks = append(ks, x.entry)
		if x.ret != nil {
			rps = append(rps, x.ret)
		}
	}
	return ks, rps
}
