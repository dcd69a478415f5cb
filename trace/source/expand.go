package source

import (
	"io/fs"
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// mostExpanded is how many functions of programs, or system calls, become points of their own, which know what
// they are and what its arguments are.
const mostExpanded = 64

// Expand is part of lang.Expander.
func (s *Source) Expand(p *lang.Point) []*lang.Point {
	switch {
	case (p.Provider == "uprobe" || p.Provider == "uretprobe") && s.Functions != nil:
		return s.expandProgram(p)
	case p.Provider == "tracepoint" && strings.Contains(p.Text, "*"):
		return s.expandCalls(p)
	}
	return nil
}

// part is one of the points that a pattern stands for.
func part(of *lang.Point, options ...string) *lang.Point {
	p := *of
	p.Loose, p.Options = true, options
	p.Text = lang.PointText(p.Provider, options...)
	return &p
}

// expandProgram returns a point for each function that fits, in each file that fits.
func (s *Source) expandProgram(p *lang.Point) (all []*lang.Point) {
	path := s.path(p.Options[0])
	function, offset, more := strings.Cut(p.Options[1], "+")
	if p.Source != "" || !isPattern(path) && !isPattern(function) {
		return nil
	}
	for _, f := range files(path) {
		for _, name := range s.Functions(programPath(f), function, false) {
			if more {
				name += "+" + offset
			}
			all = append(all, part(p, f, name))
		}
	}
	if len(all) > mostExpanded {
		return nil
	}
	return all
}

// expandCalls returns a point for each system call that fits, before it and after it; of too many, a point for all
// that are entered and one for all that return. What else fits is of p.
func (s *Source) expandCalls(p *lang.Point) (all []*lang.Point) {
	fit := s.callsOf(p)
	if len(fit) <= mostExpanded {
		for _, point := range fit {
			all = append(all, part(p, strings.Split(point, ":")...))
		}
	} else {
		for _, side := range []string{"sys_enter", "sys_exit"} {
			one := part(p, p.Options[0], p.Options[1], side)
			if one.Text = p.Text + " (" + side + ")"; s.callsOf(one) != nil {
				all = append(all, one)
			}
		}
	}
	name := strings.Join(p.Options, ":")
	if all != nil && slices.ContainsFunc(event.All(), func(e *event.Event) bool { return kallsyms.Fits(name, e.String()) }) {
		all = append(all, p)
	}
	return all
}

func isPattern(name string) bool { return attach.Site{Symbol: name}.Pattern() }

// files returns a program's name, or the paths of the files that it fits as a pattern. A file that has several names
// is there once.
func files(pattern string) (paths []string) {
	if !isPattern(pattern) {
		return []string{pattern}
	}
	found, _ := fs.Glob(vfs.Root, strings.TrimPrefix(programPath(pattern), "/")) // an error: nothing fits
	known := map[uint64]bool{}
	for _, name := range found {
		place, err := vfs.Root.PlaceAt(vfs.Root.RootPlace(), name, true, false)
		if err != nil || known[place.Ino()] {
			continue
		}
		known[place.Ino()] = true
		path, err := place.Path()
		if st := place.Node().Stat(); err == nil && st.Mode.IsRegular() && st.Size > 0 { // /proc has files that only reading makes
			paths = append(paths, path)
		}
	}
	return paths
}
