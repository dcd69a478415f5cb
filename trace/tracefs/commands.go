package tracefs

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// A table is one of the files that make events: which lines it takes.
type table struct {
	who   string // in error_log
	user  bool
	kinds string // of probes that it lists
	any   bool   // dynamic_events takes all
}

var (
	kprobeTable  = table{who: "trace_kprobe", kinds: "pr"}
	uprobeTable  = table{who: "trace_uprobe", user: true, kinds: "pr"}
	dynamicTable = table{any: true}
)

// lists tells whether an event is listed in the file.
func (t table) lists(e *event) bool {
	if len(e.probes) == 0 {
		return false
	}
	p := e.probes[0]
	return t.any || p.user == t.user && strings.IndexByte(t.kinds, p.kind) >= 0
}

// String is what the file says.
func (t table) String() string {
	var b strings.Builder
	for _, e := range made {
		if t.lists(e) {
			for _, p := range e.probes {
				b.WriteString(p.String() + "\n")
			}
		}
	}
	return b.String()
}

// clear removes all events that the file lists.
//
// Errors: EBUSY one of them is in use: none is removed.
func (t table) clear() error {
	for _, e := range made {
		if t.lists(e) && busy(e) {
			return refusal.New(syscall.EBUSY, "event %s is enabled", e)
		}
	}
	made = slices.DeleteFunc(made, func(e *event) bool {
		if t.lists(e) {
			forget(e)
			return true
		}
		return false
	})
	return nil
}

// write executes lines; those before one that is refused stay executed.
func (t table) write(text string) error {
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimRight(line, " \t"); strings.TrimSpace(line) == "" {
			continue
		}
		if err := t.execute(line); err != nil {
			return err
		}
	}
	return nil
}

func (t table) execute(line string) error {
	if err := short(line); err != nil {
		return err
	}
	if line[0] == '-' || line[0] == '!' {
		return t.remove(strings.TrimSpace(line[1:]), line[0] == '!')
	}
	user, who := t.user, t.who
	if t.any {
		user = strings.Contains(line, " /") && line[0] != 'e'
		if who = kprobeTable.who; user {
			who = uprobeTable.who
		}
		if line[0] == 'e' {
			who = "event_probe"
		}
	}
	if !strings.ContainsRune("pr", rune(line[0])) && !(t.any && line[0] == 'e') {
		return refusal.New(syscall.EINVAL, "%s: a line begins with p, r, or - to remove an event", brief(line))
	}
	p, group, name, err := parseProbe(line, user)
	if err == nil {
		err = add(p, group, name, line)
	}
	if errors.Is(err, syscall.ECANCELED) {
		return refusal.New(syscall.EINVAL, "%s: give a place after the name, as in p:NAME vfs_read", brief(line))
	}
	return top.report(who, line, err)
}

// add makes a probe an event, or one more probe of an event.
func add(p *probe, group, name, line string) error {
	head := strings.IndexByte(line, ' ')
	e := find(group, name)
	switch {
	case e == nil:
		e = &event{system: group, name: name, id: newID()}
		if e.id > lastOwn {
			return refusal.New(syscall.ENODEV, "all numbers of events are taken")
		}
		p.event, e.probes = e, []*probe{p}
		e.describe()
		if err := try(e); err != nil {
			return refused(p, line, err)
		}
		made = append(made, e)
		return nil
	case len(e.probes) == 0 || e.kind() == 'e' || p.kind == 'e' || e.probes[0].user != p.user:
		at := min(head+1, 2)
		return &mistake{at, "Given group/event name is already used by another event", syscall.EEXIST}
	case e.kind() != p.kind:
		return &mistake{0, "Probe type is different from existing probe", syscall.EEXIST}
	}
	return again(e, p, line)
}

// again adds a probe to an event that has some.
func again(e *event, p *probe, line string) error {
	args := words(line)[2:]
	first := e.probes[0]
	for i, a := range p.args {
		if i >= len(first.args) || first.args[i].name != a.name || first.args[i].typ != a.typ || first.args[i].count != a.count {
			return &mistake{args[i].at, "Probe argument type or name is different from existing probe", syscall.EEXIST}
		}
	}
	if len(p.args) < len(first.args) {
		return &mistake{len(line), "Probe argument type or name is different from existing probe", syscall.EEXIST}
	}
	p.event = e
	for _, other := range e.probes {
		if other.String() == p.String() {
			return &mistake{0, "There is already the exact same probe event", syscall.EEXIST}
		}
	}
	if busy(e) {
		return refusal.New(syscall.EBUSY, "event %s is enabled", e)
	}
	e.probes = append(e.probes, p)
	return nil
}

// remove removes the events that [GRP/]EV names, of all groups without one, or the probe that the line is of. With !,
// the line is one that made an event.
func (t table) remove(line string, whole bool) error {
	all := words(line)
	if len(all) == 0 {
		return refusal.New(syscall.EINVAL, "give the name of an event after -:")
	}
	given := all[0].text
	if i := strings.IndexByte(given, ':'); i >= 0 {
		given = given[i+1:]
	} else {
		return refusal.New(syscall.EINVAL, "-%s: give the name of an event after -:", brief(line))
	}
	group, name, hasGroup := strings.Cut(given, "/")
	if !hasGroup {
		group, name = "", given
	}
	rest := ""
	for _, w := range all[1:] {
		rest += " " + w.text
	}
	found, lasting := false, error(nil)
	for _, e := range slices.Clone(made) {
		if !t.lists(e) || hasGroup && e.system != group || name != "" && e.name != name {
			continue
		}
		for _, p := range slices.Clone(e.probes) {
			if !fits(p, rest) {
				continue
			}
			if found = true; busy(e) {
				lasting = refusal.New(syscall.EBUSY, "event %s is enabled", e)
				continue
			}
			e.probes = slices.DeleteFunc(e.probes, func(o *probe) bool { return o == p })
			if len(e.probes) == 0 {
				made = slices.DeleteFunc(made, func(o *event) bool { return o == e })
				forget(e)
			}
		}
	}
	if !found {
		return refusal.New(syscall.ENOENT, "-%s: there is no such event", brief(line))
	}
	return lasting
}

// fits tells whether a line without its name, as it was written or is listed, is that of a probe. An empty one is
// that of all; a place may stand without arguments.
func fits(p *probe, rest string) bool {
	if rest == "" {
		return true
	}
	_, listed, _ := strings.Cut(p.String(), " ")
	listed = " " + listed
	rest = strings.Replace(rest, "/", map[bool]string{true: ".", false: "/"}[p.kind == 'e' && strings.Count(strings.Fields(rest)[0], "/") == 1], 1)
	return rest == listed || strings.HasPrefix(listed, rest+" ")
}

// try attaches an event's programs for a moment, so that what cannot be probed is refused here.
func try(e *event) error {
	s := &state{event: e, in: top, wanted: 1}
	var c change
	if err := s.arm(&c); err != nil {
		return err
	}
	c.complete()
	s.wanted = 0
	err := s.arm(&c)
	c.complete()
	return err
}

// refused is the error for a place that cannot have a probe.
func refused(p *probe, line string, err error) error {
	all := words(line)
	switch {
	case errors.Is(err, syscall.EILSEQ):
		return &mistake{all[1].at, "Probe point is not an instruction boundary", syscall.EILSEQ}
	case errors.Is(err, syscall.ENOENT):
		return &mistake{all[1].at, "Invalid probed address or symbol", syscall.ENOENT}
	}
	return err
}
