// Package link attaches links (kernel/attach) to places in programs, by uprobes and uretprobes.
package link

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/attach"
	"sonde/kernel/probe"
	"sonde/kernel/vfs"
	"sonde/linux/program"
	"sonde/uprobes"
)

// Provider is the attach.Provider of places in programs.
type Provider struct{}

// Can is part of attach.Provider.
func (Provider) Can() attach.Ability {
	return attach.Returns | attach.Entries | attach.Data | attach.Blocks | attach.Patterns | attach.Processes
}

// Attach is part of attach.Provider.
//
// Errors: those of RegisterUprobe and RegisterUretprobe; ENOENT nothing fits a pattern.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (attach.Attachment, error) {
	a := new(attachment)
	for i := range sites {
		if err := a.add(l, &sites[i]); err != nil {
			a.Close()
			return nil, fmt.Errorf("place %q: %w", sites[i], err)
		}
	}
	if l.Options.Disabled {
		if err := a.Enable(false); err != nil {
			a.Close()
			return nil, err
		}
	}
	return a, nil
}

// one is a probe of either kind.
type one struct {
	place *attach.Place
	entry *uprobes.Uprobe    // nil: ret
	ret   *uprobes.Uretprobe // nil: entry
}

// attachment is a link's part in programs.
type attachment struct {
	probes  []one
	skipped int
}

// add registers the probes of a site.
func (a *attachment) add(l *attach.Link, s *attach.Site) error {
	if !s.Pattern() {
		p := probeOf(l, s, *s)
		if err := p.register(); err != nil {
			return err
		}
		a.probes = append(a.probes, p)
		return nil
	}
	names, err := functions(Path(s.File), s.Symbol)
	if err == nil {
		err = l.Fits(len(names), "function")
	}
	if err != nil {
		return err
	}
	var refused error
	n := len(a.probes)
	for _, name := range names {
		at := *s
		at.Symbol = name
		p := probeOf(l, s, at)
		if err := p.register(); err != nil {
			a.skipped++
			refused = err
			continue
		}
		a.probes = append(a.probes, p)
	}
	if len(a.probes) == n {
		return refused
	}
	return nil
}

// Path returns the file of a place: a name without a slash is that of a program in /bin.
func Path(file string) string {
	if file != "" && !strings.Contains(file, "/") {
		return "/bin/" + file
	}
	return file
}

// functions returns the functions of a program whose names fit, each once.
//
// Errors: those of opening it; ENOEXEC it is no program.
func functions(path, pattern string) (names []string, err error) {
	file, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer vfs.Close(file)
	p, err := program.Open(file)
	if err != nil {
		return nil, probe.Refuse(syscall.ENOEXEC, "%s: not a program: %v", path, err)
	}
	for _, f := range p.Functions() {
		if kallsyms.Fits(pattern, f.Name) && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// probeOf makes the probe of l at a place, which is what s stands for.
func probeOf(l *attach.Link, s *attach.Site, at attach.Site) one {
	place := &attach.Place{Link: l, Site: s, Where: at.String(), Addr: at.Addr}
	p := one{place: place}
	if at.Return {
		p.ret = &uprobes.Uretprobe{Handler: returns, MaxActive: l.Options.Active, DataWords: l.Options.Data}
		if l.Options.Entry != nil {
			p.ret.EntryHandler = entry
		}
	} else {
		p.entry = &uprobes.Uprobe{Handler: hit}
	}
	u := p.uprobe()
	u.Pid, u.Vaddr, u.Path, u.Symbol, u.Offset = at.PID, at.Addr, Path(at.File), at.Symbol, at.Offset
	u.TrapSafe, u.Place = !l.Options.Block, place
	return p
}

func (p *one) register() error {
	if p.ret != nil {
		return uprobes.RegisterUretprobe(p.ret)
	}
	return uprobes.RegisterUprobe(p.entry)
}

// uprobe is the probe that has the state.
func (p *one) uprobe() *uprobes.Uprobe {
	if p.ret != nil {
		return &p.ret.U
	}
	return p.entry
}

// Close is part of attach.Attachment.
func (a *attachment) Close() {
	for _, p := range a.probes {
		if p.ret != nil {
			uprobes.UnregisterUretprobe(p.ret)
		} else {
			uprobes.UnregisterUprobe(p.entry)
		}
	}
}

// Enable is part of attach.Attachment.
//
// Errors: those of EnableUprobe.
func (a *attachment) Enable(on bool) error {
	for i := range a.probes {
		if err := enable(&a.probes[i], on); err != nil {
			for j := range a.probes[:i] {
				enable(&a.probes[j], !on)
			}
			return err
		}
	}
	return nil
}

func enable(p *one, on bool) error {
	if on {
		return uprobes.EnableUprobe(p.uprobe())
	}
	return uprobes.DisableUprobe(p.uprobe())
}

// Skipped is part of attach.Selection.
func (a *attachment) Skipped() int { return a.skipped }

// Summary is part of attach.Selection.
func (a *attachment) Summary() string { return "" }

// Places is part of attach.Attachment.
func (a *attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a.probes))
	for i := range a.probes {
		p := &a.probes[i]
		way, disabled := p.uprobe().Way()
		list[i] = attach.Placed{Place: p.place, Way: way, Disabled: disabled, Ledger: p.uprobe().Ledger()}
	}
	return list
}
