package source

import (
	"strings"

	"sonde/kallsyms"
	"sonde/probe/attach/quote"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// List calls yield for all attach points that fit a pattern, such as kprobe:vfs.* or uprobe:/bin/sh:main.*; of
// a name that is none, for the one that it is. A pattern of providers does not stand for returns, whose
// functions are those of entries.
func (s *Source) List(pattern string, yield func(point string) bool) {
	provider, name, has := quote.Cut(pattern, ":")
	if !has {
		provider, name = "*", pattern
	}
	switch provider = lang.Provider(provider); {
	case provider == "uprobe" || provider == "uretprobe":
		s.listProgram(provider, name, yield)
		return
	case !strings.Contains(strings.ReplaceAll(pattern, "(*", ""), "*"):
		s.listOne(pattern, yield)
		return
	}
	name = quote.Remove(name)
	for _, p := range []string{"kprobe", "kretprobe", "fentry", "fexit"} {
		if p != provider && (p != "kprobe" || !kallsyms.Fits(provider, p)) {
			continue
		}
		for sym := range s.Symbols.Text {
			if sym.Size > 0 && kallsyms.Fits(name, sym.Name) && !yield(lang.PointText(p, sym.Name)) {
				return
			}
		}
	}
	if pattern == "*" || kallsyms.Fits(provider, "tracepoint") {
		s.listTracepoints(func(point string) bool {
			return pattern != "*" && !kallsyms.Fits(name, point) || yield("tracepoint:"+point)
		})
	}
}

// listOne lists what may be an attach point.
func (s *Source) listOne(point string, yield func(point string) bool) {
	script, err := lang.Parse("", point+" { }")
	if err != nil {
		return
	}
	p := script.Probes[0].Points[0]
	if _, err := s.Target(p); err == nil {
		yield(p.Text)
	}
}

// listProgram lists functions of a program.
func (s *Source) listProgram(provider, name string, yield func(point string) bool) {
	path, pattern, _ := quote.Cut(name, ":")
	if s.Functions == nil {
		return
	}
	for _, program := range files(s.path(quote.Remove(path))) {
		for _, f := range s.Functions(programPath(program), quote.Remove(pattern), true) {
			if !yield(lang.PointText(provider, program, f)) {
				return
			}
		}
	}
}

// listTracepoints lists all tracepoints.
func (s *Source) listTracepoints(yield func(name string) bool) {
	for _, e := range event.All() {
		if !yield(e.String()) {
			return
		}
	}
	s.callPoints(yield)
}
