// Package link attaches links (kernel/attach) to places in programs, by uprobes and uretprobes.
package link

import (
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/attach"
	"sonde/linux/program"
	"sonde/uprobes"
)

// Provider is the attach.Provider of places in programs.
type Provider struct{}

// Can is part of attach.Provider.
func (Provider) Can(attach.Kind) attach.Ability {
	return attach.Returns | attach.Entries | attach.Data | attach.Blocks | attach.Patterns | attach.Processes
}

// Attach is part of attach.Provider.
//
// Errors: those of RegisterUprobe and RegisterUretprobe; ENOENT nothing fits a pattern.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c attach.Change, err error) {
	a := new(attachment)
	for i := range sites {
		if err := a.add(l, &sites[i]); err != nil {
			return nil, a.Detach(), attach.Misplaced(sites[i], err)
		}
	}
	return a, c, nil
}

// attachment is a link's part in programs.
type attachment struct {
	probes  []*uprobes.Uprobe // of return probes, the U
	skipped int
}

// add registers the probes of a site.
func (a *attachment) add(l *attach.Link, s *attach.Site) (err error) {
	names := []string{s.Symbol}
	if s.Pattern() {
		if names, err = functions(Path(s.File), s.Symbol); err == nil {
			err = l.Fits(len(names), "function")
		}
		if err != nil {
			return err
		}
	}
	n := len(a.probes)
	for _, name := range names {
		at := *s
		at.Symbol = name
		u, e := register(&attach.Place{Link: l, Site: s, Where: at.String(), Addr: at.Addr}, at)
		if e != nil {
			a.skipped++
			err = e
			continue
		}
		a.probes = append(a.probes, u)
	}
	if len(a.probes) > n {
		return nil
	}
	return err
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
// Errors: those of program.Read.
func functions(path, pattern string) (names []string, err error) {
	err = program.Read(path, func(p *program.File) error {
		names = fitting(p.Functions(), pattern)
		return nil
	})
	return names, err
}

// fitting are the names of functions that fit, each once.
func fitting(all []program.Symbol, pattern string) (names []string) {
	known := map[string]bool{}
	for _, f := range all {
		if !known[f.Name] && kallsyms.Fits(pattern, f.Name) {
			known[f.Name] = true
			names = append(names, f.Name)
		}
	}
	return names
}

// register registers the probe of a place, which at names.
func register(place *attach.Place, at attach.Site) (*uprobes.Uprobe, error) {
	u, rp := newProbe(place, at)
	if rp != nil {
		return u, uprobes.RegisterUretprobe(rp)
	}
	return u, uprobes.RegisterUprobe(u)
}

// newProbe makes the probe of a place; of a return probe it is the U.
func newProbe(place *attach.Place, at attach.Site) (u *uprobes.Uprobe, rp *uprobes.Uretprobe) {
	o := &place.Link.Options
	u = &uprobes.Uprobe{Handler: hit}
	if at.Return {
		rp = &uprobes.Uretprobe{Handler: returns, MaxActive: o.Active, DataWords: o.Data}
		if u = &rp.U; o.Entry != nil {
			rp.EntryHandler = entry
		}
	}
	u.Pid, u.Vaddr, u.Path, u.Symbol, u.Offset = at.PID, at.Addr, Path(at.File), at.Symbol, at.Offset
	u.TrapSafe, u.Place, u.Disabled = !o.Block, place, o.Disabled
	return u, rp
}

// Detach is part of attach.Attachment.
func (a *attachment) Detach() attach.Change { return uprobes.Remove(a.probes) }

// Enable is part of attach.Attachment.
//
// Errors: those of EnableUprobes.
func (a *attachment) Enable(on bool) error { return uprobes.EnableUprobes(a.probes, on) }

// Skipped is part of attach.Selection.
func (a *attachment) Skipped() int { return a.skipped }

// Summary is part of attach.Selection.
func (a *attachment) Summary() string { return "" }

// Places is part of attach.Attachment.
func (a *attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a.probes))
	for i, u := range a.probes {
		way, disabled := u.Way()
		list[i] = attach.Placed{Place: u.Place, Way: way, Disabled: disabled, Ledger: u.Ledger()}
	}
	return list
}
