package tracefs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	tracepoints "sonde/probe/event"
	"sonde/probe/program"
)

// An event is a tracepoint, what lines of kprobe_events and the like have made, or what is written to trace_marker.
type event struct {
	system, name string
	id           int
	fields       []field // beyond those that all have
	size         int     // of the record, in bytes
	print        string  // how format says that it is printed
	sites        []attach.Site
	through      program.Through
	probes       []*probe // those that have made it: none of a tracepoint
	past         uint64   // hits and
	missed       uint64   // misses, when it was enabled before
	gone         bool     // it was removed; a file of it may be open
}

// there tells whether the event was removed.
//
// Errors: ENODEV.
func (e *event) there() error {
	if e.gone {
		return refusal.New(syscall.ENODEV, "event %s was removed", e)
	}
	return nil
}

// Numbers of events, which records begin with. Tracepoints of the kernel and of calls are between these.
const (
	snapshotID = 3 // it asks for a snapshot, and is not kept
	stackID    = 4
	printID    = 5
	firstOwn   = 4096
	lastOwn    = 1<<16 - 1
)

// Guarded by mu:
var (
	known = map[string]*event{} // tracepoints that somebody has asked for
	made  []*event              // by lines, in their order
)

// printEvent is what trace_marker writes.
var printEvent = &event{system: "ftrace", name: "print", id: printID, size: 16 + mostMarked, print: `"%ps: %s", (void *)REC->ip, REC->buf`, fields: ofTracepoint([]tracepoints.Field{
	{Name: "ip", Type: "unsigned long", Offset: 8, Size: 8},
	{Name: "buf", Type: "char", Offset: 16, Size: mostMarked, Text: true}}, 16+mostMarked)}

// mostMarked is how long a text in trace_marker can be.
const mostMarked = 1000

// kind is that of the probes that an event has; 0: it has none.
func (e *event) kind() byte {
	if len(e.probes) > 0 {
		return e.probes[0].kind
	}
	return 0
}

func (e *event) String() string { return e.system + ":" + e.name }

// find returns an event; nil: there is none. Called with mu held.
func find(system, name string) *event {
	for _, e := range made {
		if e.system == system && e.name == name {
			return e
		}
	}
	if system == "ftrace" && name == "print" {
		return printEvent
	}
	full := system + ":" + name
	if e := known[full]; e != nil {
		return e
	}
	id, ok := tracepoints.Named(full)
	if !ok {
		return nil
	}
	return tracepoint(id)
}

// tracepoint makes the event of a tracepoint.
func tracepoint(id uint64) *event {
	s, err := tracepoints.Numbered(id)
	if err != nil {
		return nil
	}
	e := &event{id: int(id), size: s.Size, fields: ofTracepoint(s.Fields, s.Size), print: s.Print, sites: s.Sites, through: s.Through}
	e.system, e.name, _ = strings.Cut(s.Name, ":")
	known[s.Name] = e
	return e
}

// byID returns the event of a record.
func byID(id int) *event {
	switch {
	case id == printID:
		return printEvent
	case id >= firstOwn:
		for _, e := range made {
			if e.id == id {
				return e
			}
		}
		return nil
	}
	for _, e := range known {
		if e.id == id {
			return e
		}
	}
	return tracepoint(uint64(id))
}

// static are the names of tracepoints, by system: they do not change once the kernel has booted.
var static = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{"ftrace": nil}
	for _, name := range tracepoints.Names() {
		system, rest, _ := strings.Cut(name, ":")
		all[system] = append(all[system], rest)
	}
	return all
})

// eventNames are those of all events, SYSTEM:EVENT, but for ftrace's, which cannot be enabled.
func eventNames() (all []string) {
	for _, system := range systems() {
		for _, name := range eventsOf(system) {
			if system != "ftrace" {
				all = append(all, system+":"+name)
			}
		}
	}
	return all
}

// systems are those of all events.
func systems() []string {
	all := slices.Collect(maps.Keys(static()))
	for _, e := range made {
		all = append(all, e.system)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func isSystem(name string) bool {
	_, ok := static()[name]
	return ok || slices.ContainsFunc(made, func(e *event) bool { return e.system == name })
}

// eventsOf are the names of a system's events.
func eventsOf(system string) []string {
	all := slices.Clone(static()[system])
	for _, e := range made {
		if e.system == system {
			all = append(all, e.name)
		}
	}
	if system == "ftrace" {
		all = append(all, "print")
	}
	return all
}

// newID returns a number that no event has.
func newID() int {
	id := firstOwn
	for slices.ContainsFunc(made, func(e *event) bool { return e.id == id }) {
		id++
	}
	return id
}

// describe makes an event's fields of its first probe.
func (e *event) describe() {
	p := e.probes[0]
	e.fields, e.size = p.head(), p.size
	head := map[byte]string{'p': "(%lx)", 'r': "(%lx <- %lx)", 'e': ""}[p.kind]
	var formats, values []string
	if head != "" {
		formats = []string{head}
	}
	for _, f := range e.fields {
		values = append(values, "REC->"+f.Name)
	}
	if p.kind == 'r' {
		values[0], values[1] = values[1], values[0]
	}
	for _, a := range p.args {
		f := a.field()
		e.fields = append(e.fields, f)
		one := map[byte]string{'u': "%u", 's': "%d", 'x': "0x%x", 'c': "'%c'", 'p': "%pS"}[a.typ.base]
		if a.typ.size == 8 {
			one = strings.NewReplacer("%u", "%Lu", "%d", "%Ld", "0x%x", "0x%Lx").Replace(one)
		}
		get := func(name string) string { return "REC->" + name }
		if a.typ.text {
			one, get = `\"%s\"`, func(name string) string { return "__get_str(" + name + ")" }
		}
		if a.count == 0 {
			formats, values = append(formats, a.name+"="+one), append(values, get(a.name))
			continue
		}
		formats = append(formats, a.name+"={"+strings.TrimSuffix(strings.Repeat(one+",", a.count), ",")+"}")
		for i := range a.count {
			values = append(values, get(fmt.Sprintf("%s[%d]", a.name, i)))
		}
	}
	e.print = `"` + strings.Join(formats, " ") + `"`
	for _, v := range values {
		e.print += ", " + v
	}
}

// field is an argument's.
func (a *arg) field() field {
	f := field{text: a.typ.text, at: a.at, room: a.room, base: a.typ.base, Field: tracepoints.Field{Name: a.name, Type: a.typ.name,
		Offset: a.offset, Size: a.typ.size * max(1, a.count), Count: a.count, Signed: a.typ.base == 's', Loc: a.typ.text}}
	switch {
	case a.typ.text:
		f.Type = "char[]"
	case a.typ.base == 'x':
		f.Type = "u" + a.typ.name[1:]
	case a.typ.base == 'p':
		f.Type = "u64"
	case a.typ.width > 0:
		f.Type = fmt.Sprintf("u%d", 8*a.typ.size)
	}
	return f
}

// Mount makes the files.
//
// Errors: those of vfs.FS.Extend.
func Mount(tree *vfs.FS) error {
	for _, dir := range [...]string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if err := tree.MkdirAll(dir[1:], 0755); err != nil {
			return err
		}
		if err := tree.Extend(dir, top.dir()); err != nil {
			return err
		}
	}
	return nil
}
