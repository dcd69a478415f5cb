package kprobes

import (
	"sort"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// Description describes a place for probes. What concerns detours, and whether one is
// possible, is known to package optprobe.
type Description struct {
	Symbol string    // the function
	Func   uintptr   // its address
	Size   uintptr   // its length in bytes
	Addr   uintptr   // the place
	Pre    place.Way // with pre-handlers only
	Post   place.Way // with a post-handler
	Check  int       // bytes of the stack check that begins here, including its last branch; 0: none
	NoRet  string    // why there can be no return probe here
	NoJump string    // why no jump is put in now, whatever the code; "": nothing prevents it

	Probes []ProbeInfo    // those there now, in order of registration
	Armed  bool           // a breakpoint or a jump is in place
	Jumped bool           // a jump
	Fused  bool           // to code that has the handler in it
	Stub   *detour.Stub   // that the breakpoint leads to; nil: it calls the handlers
	Unfit  string         // why it is not fused, if a probe there could be; ""
	Slot   uintptr        // of the probes there; 0: none
	Detour *detour.Detour // of the probes there; nil: none
	Near   []Neighbour    // probes close by, in order of address
}

// ProbeInfo is one probe of a place.
type ProbeInfo struct {
	Kind     string   // k, r, j: the letters of the list file
	Handlers []string // the functions that it calls
	Disabled bool     // by DisableKprobe, or because it is gone
	Gone     bool     // for good: its handler broke the rules, or its module has been unloaded
	Ledger   Ledger   // its account
	Fused    uint64   // hits of Ledger.Handled that ran the handler's code at the place
}

// Neighbour is another probed place.
type Neighbour struct {
	Addr   uintptr // its address
	Covers uintptr // bytes that its detour covers, 0 without one
	Jumped bool    // a jump is in place
}

// Describe describes a place: what a probe at offset off in the symbol would be, and what
// is there now. With an empty symbol, off is an address. It changes nothing.
//
// Errors: those of RegisterKprobe, without the word "register"; the returned Description
// has what was found before the error.
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
	pt := points.Find(addr)
	if pt == nil {
		if pt, err = newPoint(addr, fn); err != nil {
			return d, err
		}
	}
	d.describe(pt)
	if d.NoRet = machine.This.NoReturn(fn); pt.Addr != uintptr(fn.Addr) {
		d.NoRet = "it is not the entry of a function"
	}
	d.near()
	return d, nil
}

// All returns a Description of every probed place, in order of address, without Near and
// NoRet: these need a walk through the whole function.
func All() (list []Description) {
	mu.Lock()
	defer mu.Unlock()
	for pt := range points.All {
		fn, _ := kallsyms.Kernel().At(uint64(pt.Addr))
		d := Description{Symbol: fn.Name, Func: uintptr(fn.Addr), Size: uintptr(fn.Size), Addr: pt.Addr}
		d.describe(pt)
		list = append(list, d)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Addr < list[j].Addr })
	return list
}

// describe fills in what pt knows. Called with mu held.
func (d *Description) describe(pt *point) {
	d.Slot, d.Detour, d.Armed, d.Jumped = pt.Slot, pt.detour, pt.armed, pt.jumped
	d.Pre, d.Post = pt.Way(false), pt.Way(true)
	d.Check = int(pt.Check.Len)
	d.Fused, d.Unfit = pt.fused, pt.unfit()
	if pt.stubbed() && !pt.jumped {
		d.Stub = pt.stub
	}
	for _, k := range pt.probes() {
		d.Probes = append(d.Probes, k.info())
	}
	switch {
	case disarmedAll:
		d.NoJump = "all probes are switched off (debug/kprobes/enabled)"
	case len(d.Probes) == 0:
	case pt.post.Load():
		d.NoJump = "a probe here has a post-handler"
	case !pt.jumpable():
		d.NoJump = "there is a jprobe here"
	case !pt.wanted():
		d.NoJump = "the probes here are disabled"
	}
}

// near fills in the probes close by. Called with mu held.
func (d *Description) near() {
	for at := d.Addr - detour.MaxLen; at < d.Addr+detour.MaxLen; at++ {
		if n := points.Find(at); n != nil && at != d.Addr {
			near := Neighbour{Addr: at, Jumped: n.jumped}
			if n.detour != nil {
				near.Covers = n.detour.Len
			}
			d.Near = append(d.Near, near)
		}
	}
}

// info describes k.
func (k *Kprobe) info() ProbeInfo {
	var calls []string
	for _, h := range k.whole().handlers() {
		if name, _, _, ok := kallsyms.Lookup(uint64(goabi.CodeOf(h.f))); ok {
			calls = append(calls, h.role+"-handler "+name)
		}
	}
	return ProbeInfo{
		Kind: k.kind.String(), Handlers: calls,
		Disabled: k.Flags.Has(flagOff), Gone: k.Flags.Has(flagGone), Ledger: k.whole().account(), Fused: k.tallied(),
	}
}

// Way says how k's hits are executed: fused, jump, or a word of place.Way; "off" if its point is not armed.
// It also returns whether its handlers are called, and what became of the hits.
func (k *Kprobe) Way() (way string, disabled bool, l Ledger) {
	mu.Lock()
	defer mu.Unlock()
	disabled, l = k.Flags.Has(flagOff), k.whole().account()
	switch {
	case k.point == nil || !k.point.armed:
		return "off", disabled, l
	case k.point.fused, k.point.stubbed() && !k.point.jumped:
		return "fused", disabled, l
	case k.point.jumped:
		return "jump", disabled, l
	}
	return place.Way(k.point.way.Load()).String(), disabled, l
}
