//go:build tamago

package prove

import (
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/ktest/suites/targets"
	"sonde/kwatch"
	"sonde/optprobe"
)

// blacklist probes functions that may not be probed, one at a time, with the check off. The machine
// may end here. For each that it survives it prints
//
//	lives NAME HITS
//	refused NAME: WHY
func (p *prover) blacklist(from, to int) {
	black := within(blacklisted(), from, to)
	check := machine.This.Blacklisted
	machine.This.Blacklisted = func(kallsyms.Symbol) string { return "" }
	defer func() { machine.This.Blacklisted = check }()
	for i, fn := range black {
		p.at(from+i+1, fn.Name)
		k := &kprobes.Kprobe{Addr: uintptr(fn.Addr), PreHandler: pre}
		if err := kprobes.RegisterKprobe(k); err != nil {
			fmt.Fprintf(p.out, "refused %s: %v\n", fn.Name, err)
			continue
		}
		p.trouble(fn.Name)
		p.same(fn.Name)
		kprobes.UnregisterKprobe(k)
		p.account(fn.Name, k.Ledger())
		fmt.Fprintf(p.out, "lives %s %d\n", fn.Name, k.Ledger().Handled+k.Ledger().Missed())
	}
}

// trouble makes other probes be hit in each way.
func (p *prover) trouble(name string) {
	symbol := func(name string) string { return "sonde/ktest/suites/targets." + name }
	stepped := &kprobes.Kprobe{SymbolName: symbol("Leaf"), PreHandler: pre, PostHandler: post}
	plain := &kprobes.Kprobe{SymbolName: symbol("Fib"), PreHandler: pre}
	ret := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: symbol("Small")}, Handler: back}
	for _, err := range []error{kprobes.RegisterKprobe(stepped), kprobes.RegisterKprobe(plain), kprobes.RegisterKretprobe(ret)} {
		if err != nil {
			p.finding("%s: %v", name, err)
		}
	}
	call := func() {
		for i := range uint64(20) {
			if targets.Small(i) != targets.Leaf(i, 1)+targets.Leaf(i, 2) || targets.Fib(5) != 5 {
				p.finding("%s: another result", name)
			}
		}
	}
	call()
	if err := optprobe.Optimize(); err != nil {
		p.finding("%s: %v", name, err)
	}
	call()
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{stepped, plain})
	kprobes.UnregisterKretprobe(ret)
	p.watched(name)
	programs.do(io.Discard)
}

// watchedWord is what is watched.
var watchedWord uint64

// watched hits a watchpoint, also in the single step of a probe.
func (p *prover) watched(name string) {
	reg, err := kwatch.RegisterKwatch(uintptr(unsafe.Pointer(&watchedWord)), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {})
	if err != nil {
		p.finding("%s: %v", name, err)
		return
	}
	stepped := &kprobes.Kprobe{Addr: reflect.ValueOf(store).Pointer(), PostHandler: post}
	if err := kprobes.RegisterKprobe(stepped); err != nil {
		p.finding("%s: %v", name, err)
	}
	for i := range uint64(5) {
		watchedWord = i
		store(&watchedWord, i)
	}
	kprobes.UnregisterKprobe(stepped)
	if err := kwatch.UnregisterKwatch(reg); err != nil {
		p.finding("%s: %v", name, err)
	}
}

//go:noinline
func store(p *uint64, v uint64) { *p = v }
