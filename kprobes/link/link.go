// Package link attaches links (probe/attach) to places in the kernel, by kprobes and return probes.
package link

import (
	"cmp"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/probe/ledger"
)

// Provider is the attach.Provider of places in the kernel: functions, lines and copies.
type Provider struct{}

// Can is part of attach.Provider.
func (Provider) Can(k attach.Kind) attach.Ability {
	switch k {
	case attach.Kernel:
		return attach.Returns | attach.Entries | attach.Data | attach.Patterns
	case attach.Inline:
		return attach.Patterns
	}
	return 0
}

// Attach is part of attach.Provider.
//
// Errors: those of RegisterKprobe and RegisterKretprobe; ENOENT nothing fits a pattern.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	a := new(attachment)
	var all []*attach.Place
	for i := range sites {
		found, err := a.find(l, &sites[i])
		if err != nil {
			return nil, c, attach.Misplaced(sites[i], err)
		}
		all = append(all, found...)
	}
	if a.probes, c, err = kprobes.Insert(probes(l, all), optional); err != nil {
		return nil, c, err
	}
	a.skipped = len(all) - len(a.probes)
	for i := range sites {
		if err := a.probed(&sites[i], all); err != nil {
			return nil, c.With(a.Detach()), err
		}
	}
	return a, c, nil
}

// probed returns an error if none of the places that a site stands for has a probe.
func (a *attachment) probed(s *attach.Site, all []*attach.Place) error {
	if slices.ContainsFunc(a.probes, func(k *kprobes.Kprobe) bool { return k.Place.Site == s }) {
		return nil
	}
	fit := 0
	for _, at := range all {
		if at.Site == s {
			fit++
		}
	}
	return refusal.New(syscall.EINVAL, "place %q: none of the %d places that fit can be probed", s, fit)
}

// find returns the places that a site stands for.
//
// Errors: those of kprobes.Resolve and places.Find; E2BIG there are more than the link wants.
func (a *attachment) find(l *attach.Link, s *attach.Site) (list []*attach.Place, err error) {
	at := func(addr uint64) *attach.Place {
		return &attach.Place{Link: l, Site: s, Where: kallsyms.Where(addr), Addr: addr}
	}
	if s.Kind == attach.Kernel && !s.Pattern() {
		addr, err := kprobes.Resolve(s.Symbol, uintptr(s.Offset), uintptr(s.Addr))
		return []*attach.Place{at(uint64(addr))}, err
	}
	f, err := places.Find(*s)
	if err != nil {
		return nil, err
	}
	for _, spot := range f.Spots {
		list = append(list, at(spot.Addr))
	}
	a.found = append(a.found, f)
	return list, l.Fits(len(list), "place")
}

// optional: of several places that a site stands for, some may be refused.
func optional(k *kprobes.Kprobe) bool {
	return k.Place.Site.Kind != attach.Kernel || k.Place.Site.Pattern()
}

// probes makes the probes for the places of a link.
func probes(l *attach.Link, all []*attach.Place) []*kprobes.Kprobe {
	returns := 0
	for _, at := range all {
		if at.Site.Return {
			returns++
		}
	}
	ks := make([]*kprobes.Kprobe, len(all))
	for i, at := range all {
		if at.Site.Return {
			ks[i] = &returnProbe(l, at, returns).KP
			continue
		}
		ks[i] = &kprobes.Kprobe{Addr: uintptr(at.Addr), Flags: flags(l), Place: at, PreHandler: count}
		if l.Handler != nil {
			ks[i].PreHandler = hit
		}
	}
	return ks
}

// wordSize is how many bytes a word of a call's data has.
const wordSize = 8

// returnProbe makes the probe for one of a link's places.
func returnProbe(l *attach.Link, at *attach.Place, places int) *kprobes.Kretprobe {
	rp := &kprobes.Kretprobe{
		KP:        kprobes.Kprobe{Addr: uintptr(at.Addr), Flags: flags(l), Place: at},
		MaxActive: cmp.Or(l.Options.Active, usual(places, machine.This.CPUs)),
		DataSize:  uintptr(l.Options.Data) * wordSize,
	}
	if l.Handler != nil {
		rp.Handler = returns
	}
	if l.Options.Entry != nil {
		rp.EntryHandler = entry
	}
	return rp
}

// Calls at the same time for which a link that does not say how many has room: in one place, and in all of
// them.
const (
	mostInOne = 256
	mostInAll = 4096
)

// usual is how many calls each of a link's places has room for if the link does not say. Goroutines wait
// inside functions, so that one for each CPU would be too few. The least is what Linux gives each function of a kernel
// with preemption (kprobes.txt §1.3.1).
func usual(places, cpus int) int { return max(10, 2*cpus, min(mostInOne, mostInAll/places)) }

// flags are what a probe of l begins with.
func flags(l *attach.Link) ledger.Flags {
	if l.Options.Disabled {
		return kprobes.FlagDisabled
	}
	return 0
}

// attachment is a link's part in the kernel.
type attachment struct {
	probes  []*kprobes.Kprobe // of return probes, the entries
	skipped int
	found   []places.Found // what the sites stand for that stand for several places
}

// Detach is part of attach.Attachment.
func (a *attachment) Detach() grace.Change { return kprobes.Remove(a.probes) }

// Enable is part of attach.Attachment.
//
// Errors: those of EnableKprobes.
func (a *attachment) Enable(on bool) error { return kprobes.EnableKprobes(a.probes, on) }

// Refit is part of attach.Refitter.
func (a *attachment) Refit() { kprobes.Refit(a.probes) }

// Skipped is part of attach.Selection.
func (a *attachment) Skipped() int { return a.skipped }

// Summary is part of attach.Selection.
func (a *attachment) Summary() string {
	probed := make(map[uint64]bool, len(a.probes))
	for _, k := range a.probes {
		probed[uint64(k.Addr)] = true
	}
	var all []string
	for _, f := range a.found {
		if f.Several() {
			all = append(all, f.Summary(func(s *places.Spot) bool { return probed[s.Addr] }))
		}
	}
	return strings.Join(all, "; ")
}

// Places is part of attach.Attachment.
func (a *attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a.probes))
	for i, k := range a.probes {
		list[i].Place = k.Place
		list[i].Way, list[i].Disabled, list[i].Ledger = k.Way()
	}
	return list
}
