package source

import (
	"fmt"
	"strings"

	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// events returns the tracepoints that a point is: one, or those that fit a pattern.
func (s *Source) events(p *lang.Point) (places []attach.Site, err error) {
	name := strings.Join(p.Options, ":")
	var names []string
	for _, e := range event.All() {
		names = append(names, e.String())
		if kallsyms.Fits(name, e.String()) {
			places = append(places, attach.Site{Kind: attach.Event, Symbol: e.String()})
		}
	}
	if places != nil {
		return places, nil
	}
	return nil, missing("there is no tracepoint "+name, kallsyms.Nearest(name, names))
}

// cooked is the tracepoint of a rawtracepoint, which has no category, but may have a module.
func cooked(p *lang.Point) (*lang.Point, error) {
	name, category := p.Options[len(p.Options)-1], "*"
	if len(p.Options) > 1 && !kallsyms.Fits(p.Options[0], "vmlinux") {
		return nil, &lang.Hinted{Why: fmt.Sprintf("there is no module %s with tracepoints", p.Options[0]), Missing: true}
	}
	if name == "sys_enter" || name == "sys_exit" {
		category = "raw_syscalls"
	}
	return &lang.Point{Span: p.Span, Provider: "tracepoint", Options: []string{category, name}, Text: "tracepoint:" + category + ":" + name}, nil
}

// recordFields are the fields of a tracepoint, numbers of one word and texts of two, and its number.
func recordFields(name string) (all []lang.ArgField, id uint64) {
	e, err := event.Find(name)
	if err != nil {
		return nil, 0
	}
	for _, f := range e.Fields {
		field := lang.ArgField{Name: f.Name, Type: lang.Type{Kind: lang.Int, Bytes: 8, Signed: f.Signed}, Offset: f.Word}
		if f.Text || f.Loc {
			field.Type, field.More = lang.Type{Kind: lang.String, Bytes: 16, Go: true}, []int{f.Word + 8}
		}
		all = append(all, field)
	}
	return all, uint64(e.ID)
}
