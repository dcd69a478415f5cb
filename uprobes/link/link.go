// Package link attaches links (probe/attach) to places in programs, by uprobes and uretprobes.
package link

import (
	"fmt"
	"strings"

	"sonde/kernel/grace"
	"sonde/linux/program"
	"sonde/probe/attach"
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
// Errors: those of RegisterUprobe and RegisterUretprobe; those of program.File.Find; ENOENT nothing fits a pattern.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	a := new(attachment)
	for i := range sites {
		if err := a.add(l, &sites[i]); err != nil {
			return nil, a.Detach(), attach.Misplaced(sites[i], err)
		}
	}
	return a, c, nil
}

// attachment is a link's part in programs. It implements attach.Attachment and attach.Selection.
type attachment struct {
	probes  []*uprobes.Uprobe // of return probes, the U
	skipped int
	notes   []string // what a name stands for that is not one function
}

// spot is a place whose name has been looked up: at has the offset in the file instead.
type spot struct {
	at    attach.Site
	where string
}

// add registers the probes of a site.
func (a *attachment) add(l *attach.Link, s *attach.Site) (err error) {
	spots := []spot{{*s, s.String()}}
	if s.Symbol != "" {
		if spots, err = a.find(l, s); len(spots) == 0 || err != nil && !s.Pattern() {
			return err
		}
	}
	n := len(a.probes)
	for _, spot := range spots {
		u, e := register(&attach.Place{Link: l, Site: s, Where: spot.where, Addr: s.Addr}, spot.at)
		switch {
		case e == nil:
			a.probes = append(a.probes, u)
		case !s.Pattern():
			return e
		default:
			a.skipped++
			err = e
		}
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

// find returns what a site with a name stands for: where a pattern fits several names of one function, it is there once,
// since a call of it is one. The error is that of the last function that cannot be probed.
//
// Errors: those of uprobes.Program and program.File.Find; ENOENT nothing fits a pattern; E2BIG.
func (a *attachment) find(l *attach.Link, s *attach.Site) (all []spot, why error) {
	err := uprobes.Program(Path(s.File), func(f *program.File) error {
		names := []string{s.Symbol}
		if s.Pattern() {
			names = f.Fitting(s.Symbol)
			if err := l.Fits(len(names), "function"); err != nil {
				return err
			}
		}
		taken := map[uint64]bool{}
		for _, name := range names {
			spots, err := f.Find(name, s.Offset)
			if err != nil {
				a.skipped++
				why = fmt.Errorf("%w in %s", err, Path(s.File))
			}
			at := *s
			for _, one := range spots {
				if taken[one.Offset] && s.Pattern() {
					continue
				}
				taken[one.Offset] = true
				at.Symbol, at.Offset = name, s.Offset
				where := at.String()
				at.Symbol, at.Offset = "", one.Offset
				all = append(all, spot{at, where})
			}
			if !s.Pattern() {
				a.note(f, name, len(spots))
			}
		}
		return nil
	})
	if err == nil {
		err = why
	}
	return all, err
}

// note notes that a name stands for several functions, or for one of several versions.
func (a *attachment) note(f *program.File, name string, n int) {
	older := f.Older(name)
	switch {
	case n > 1:
		a.notes = append(a.notes, fmt.Sprintf("%d functions are called %s", n, name))
	case n == 1 && len(older) > 0:
		a.notes = append(a.notes, fmt.Sprintf("the version of %s that programs are linked with; older: %s", name, strings.Join(older, ", ")))
	}
}

// register registers the probe of a place.
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
	u.Pid, u.Vaddr, u.Path, u.Offset = at.PID, at.Addr, Path(at.File), at.Offset
	u.TrapSafe, u.Place, u.Disabled = !o.Block, place, o.Disabled
	return u, rp
}

func (a *attachment) Detach() grace.Change { return uprobes.Remove(a.probes) }

// Enable is part of attach.Attachment.
//
// Errors: those of EnableUprobes.
func (a *attachment) Enable(on bool) error { return uprobes.EnableUprobes(a.probes, on) }

// Refit is part of attach.Refitter.
func (a *attachment) Refit() { uprobes.Refit(a.probes) }

func (a *attachment) Skipped() int    { return a.skipped }
func (a *attachment) Summary() string { return strings.Join(a.notes, "; ") }

func (a *attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a.probes))
	for i, u := range a.probes {
		way, disabled := u.Way()
		list[i] = attach.Placed{Place: u.Place, Way: way, Disabled: disabled, Ledger: u.Ledger()}
	}
	return list
}
