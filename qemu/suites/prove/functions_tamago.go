//go:build tamago

package prove

import (
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
// time: as a breakpoint, and, where that can be, as a jump.
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
			jumped++
			p.same(fn.Name + ", jump")
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
	var ks []*kprobes.Kprobe
	var rps []*kprobes.Kretprobe
	for _, x := range all {
		ks = append(ks, x.entry)
		if x.ret != nil {
			rps = append(rps, x.ret)
		}
	}
	kprobes.UnregisterKretprobes(rps)
	kprobes.UnregisterKprobes(ks)
	for _, x := range all {
		l := x.entry.Ledger()
		p.account(x.fn.Name, l)
		if l.Handled > 0 {
			hit++
		}
		if x.ret != nil {
			p.account(x.fn.Name+", return", x.ret.Ledger())
		}
	}
	return hit
}

// together probes the entries and the returns of all functions at once.
func (p *prover) together() {
	var all []pair
	returns := 0
	p.jumps(false)
	for _, fn := range probeable() {
		x := newPair(fn)
		e, r := p.register(&x)
		if returns += r; e > 0 {
			all = append(all, x)
		}
	}
	p.at(0, "all functions, breakpoints")
	p.same("all functions, breakpoints")
	p.jumps(true)
	jumped := 0
	for _, x := range all {
		if kprobes.Optimized(x.entry.Addr) {
			jumped++
		}
	}
	p.at(0, "all functions, jumps")
	for range 3 {
		p.same("all functions, jumps")
	}
	hit := p.unregister(all)
	p.count("entry-probes", len(all))
	p.count("return-probes", returns)
	p.count("as-jumps", jumped)
	p.count("functions-hit", hit)
	p.same("after all functions")
}
