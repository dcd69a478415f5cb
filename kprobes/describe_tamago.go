//go:build tamago

package kprobes

import (
	"sonde/arch/amd64/prologue"
	"sonde/kallsyms"
)

// Describe says what a probe at offset off of the symbol would be, and what is
// there now; or, without a symbol, at address off. It makes the site that
// registering would make and gives it back: a slot is in use until the next
// grace period, code is not changed.
//
// Context: goroutine.
// Errors: those of RegisterKprobe, without its "register"; what was found
// before the error is returned with it.
func Describe(symbol string, off uintptr) (Description, error) {
	k := &Kprobe{SymbolName: symbol, Offset: off}
	if symbol == "" {
		k.Addr, k.Offset = off, 0
	}
	mu.Lock()
	defer mu.Unlock()
	addr, fn, err := k.resolve()
	d := Description{Symbol: fn.Name, Func: uintptr(fn.Addr), Size: uintptr(fn.Size), Addr: addr}
	if err != nil {
		return d, err
	}
	s := find(addr)
	if s == nil {
		if s, err = newSite(addr, fn); err != nil {
			return d, err
		}
		defer retire(s, now())
	} else {
		d.Slot, d.Detour, d.Armed, d.Jumped = s.slot, s.detour, s.armed, s.jumped
	}
	d.describeSite(s, fn)
	return d, nil
}

// describeSite fills in what s says. Called with mu held.
func (d *Description) describeSite(s *site, fn symbol) {
	d.Check = int(s.check.Len)
	d.Pre, d.Post = s.waysOf()
	switch {
	case s.addr != uintptr(fn.Addr):
		d.NoRet = "it is not the entry of a function"
	default:
		d.NoRet = noReturnProbe(fn)
	}
	for _, k := range s.probes() {
		d.Probes = append(d.Probes, k.info())
	}
	switch {
	case disarmedAll:
		d.NoJump = "all probes are switched off (debug/kprobes/enabled)"
	case len(d.Probes) == 0:
	case s.post.Load():
		d.NoJump = "a probe here has a post-handler"
	case !s.jumpable():
		d.NoJump = "there is a jprobe here"
	case !s.wanted():
		d.NoJump = "the probes here are disabled"
	}
	for at := s.addr - maxCovered; at < s.addr+maxCovered; at++ {
		if n := find(at); n != nil && at != s.addr {
			near := Neighbour{Addr: at, Jumped: n.jumped}
			if n.detour != nil {
				near.Covers = n.detour.Len
			}
			d.Near = append(d.Near, near)
		}
	}
}

// waysOf returns how s's instruction gets executed without and with a
// post-handler: what execute does.
func (s *site) waysOf() (pre, post How) {
	switch {
	case s.slot == 0:
		return Emulated, Emulated
	case !s.step:
		post = Refused
	case s.check.Kind > prologue.Small:
		post = Decided
	default:
		post = Stepped
	}
	switch {
	case s.check.Kind != prologue.None:
		pre = Decided
	case s.boost:
		pre = Boosted
	default:
		pre = Stepped
	}
	return pre, post
}

// info describes k.
func (k *Kprobe) info() ProbeInfo {
	var calls []string
	say := func(what string, f any) {
		if name, _, _, ok := kallsyms.Lookup(uint64(codeOf(f))); ok {
			calls = append(calls, what+"-handler "+name)
		}
	}
	switch k.kind {
	case kindKretprobe:
		say("entry", asKretprobe(k).EntryHandler)
		say("return", asKretprobe(k).Handler)
	case kindJprobe:
		say("jprobe", asJprobe(k).Entry)
	default:
		say("pre", k.PreHandler)
		say("post", k.PostHandler)
		say("fault", k.FaultHandler)
	}
	return ProbeInfo{
		Kind: k.kind.String(), Handlers: calls,
		Disabled: k.has(FlagDisabled | flagGone), Entered: k.Ledger().Entered,
	}
}
