package tracefs

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/program"
)

// needed tells whether an event must have programs.
func (s *state) needed() bool {
	return s.event == printEvent || s.on || s.wanted > 0 || len(s.triggers) > 0
}

// A change is several states that are to have other programs, with one wait for all CPUs.
type change struct {
	grace grace.Change
	after []func()
}

func (c *change) complete() {
	c.grace.Complete()
	for _, f := range c.after {
		f()
	}
	*c = change{}
}

// arm gives an event the programs that it needs now, or takes them away. Until c is complete, what it did before continues.
// With an error, nothing has changed.
func (s *state) arm(c *change) error {
	i := s.in
	old := *s
	if !s.needed() {
		if s.slot == 0 {
			return nil
		}
		i.word(s.slot, 0)
		i.word(s.slot+1, 0)
		s.progs, s.links, s.own = nil, nil, nil
		c.after = append(c.after, func() {
			old.free()
			i.release(old.slot, 2)
			s.count(-1)
		})
		s.slot = 0
		return nil
	}
	err := s.event.there()
	if err == nil {
		err = i.prepare()
	}
	at := s.slot
	if err == nil && at == 0 {
		at, err = i.take(2)
	}
	if err != nil {
		c.complete() // what was begun holds locks until then
		return err
	}
	if s.slot == 0 {
		s.slot = at
		s.count(1)
	}
	i.generation++
	generation := i.generation
	if err := s.attach(&c.grace, generation); err != nil {
		failed := *s
		s.progs, s.links, s.own, s.slot = old.progs, old.links, old.own, old.slot
		c.complete()
		failed.free()
		if old.slot == 0 {
			i.release(failed.slot, 2)
			s.count(-1)
		}
		return err
	}
	if old.slot == 0 {
		i.set(s.slot+1, s.on || s.event == printEvent)
	}
	c.after = append(c.after, func() {
		i.word(s.slot, uint64(generation))
		old.free()
	})
	return nil
}

// count counts events with programs: while there are some, a goroutine takes their records. What is written to
// trace_marker is taken at once.
func (s *state) count(n int) {
	i := s.in
	if s.event == printEvent {
		return
	}
	switch i.armed += n; {
	case i.armed == 0:
		close(i.stop)
	case i.armed == n:
		i.stop = make(chan struct{})
		go i.run(i.stop)
	}
}

// free gives up what a state had.
func (s *state) free() {
	if n := len(s.event.probes); n > 0 {
		for _, l := range s.links {
			led := l.Ledger()
			s.event.past += led.Handled
			s.event.missed += led.Entered - led.Handled
		}
	}
	program.CloseAll(s.progs)
	closeMaps(s.own)
}

// attach makes the programs of an event, and attaches them.
func (s *state) attach(c *grace.Change, generation int) error {
	s.progs, s.links, s.own = nil, nil, nil
	e := s.event
	if len(e.probes) == 0 {
		return s.attachOne(c, nil, e.sites, e.through, generation)
	}
	for _, p := range e.probes {
		sites, through := []attach.Site{p.site}, program.Through(nil)
		if p.kind == 'e' {
			sites, through = p.attached.sites, p.attached.through
		}
		if err := s.attachOne(c, p, sites, through, generation); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) attachOne(c *grace.Change, p *probe, sites []attach.Site, through program.Through, generation int) error {
	made, kind, err := s.program(p, sites, generation)
	if err != nil {
		return err
	}
	insns, err := bpf.Assemble(made.String())
	if err != nil {
		return err
	}
	maps, specs := slices.Clone(s.in.maps), []*bpf.MapSpec(nil)
	for _, o := range made.maps {
		m := o.data
		if m == nil {
			m, err = program.NewMap(bpf.MapSpec{Name: "table", Type: bpf.Array, KeySize: 4, ValueSize: uint32(len(o.table)), MaxEntries: 1})
			if err == nil {
				s.own = append(s.own, m)
				err = m.Update(0, make([]byte, 4), o.table, program.Any)
			}
			if err != nil {
				return err
			}
		}
		maps = append(maps, m)
	}
	for _, m := range maps {
		specs = append(specs, &m.Spec)
	}
	prog, err := program.Load(&bpf.Program{Name: programName(s.event.name), Type: kind, Insns: insns, Maps: specs}, maps, nil)
	if err != nil {
		var refused *verify.Error
		if errors.As(err, &refused) {
			return refusal.New(syscall.EACCES, "%s: %v", s.event, err)
		}
		return err
	}
	s.progs = append(s.progs, prog)
	if len(sites) == 0 {
		return nil
	}
	o := &program.Options{Options: attach.Options{Owner: "tracefs"}, Through: through}
	if p != nil {
		o.Active = p.active
	}
	l, err := prog.Begin(c, slices.Clone(sites), o)
	if err == nil {
		s.links = append(s.links, l)
	}
	return err
}

// programName is what Linux allows of a name.
func programName(name string) string { return strings.Map(inName, name)[:min(len(name), 15)] }

// program makes the text of a program.
func (s *state) program(p *probe, sites []attach.Site, generation int) (*code, bpf.Type, error) {
	c, e := &code{}, s.event
	kernel := slices.ContainsFunc(sites, func(site attach.Site) bool { return site.Kind == attach.Kernel || site.Kind == attach.Event })
	c.begin(s, generation, kernel)
	kind := bpf.Kprobe
	if p == nil || p.kind == 'e' {
		kind = bpf.Tracepoint
	}
	if p == nil {
		c.copy(e.size)
	} else {
		c.probe(p)
	}
	if s.follows {
		c.follow(e)
		c.end()
		return c, kind, nil
	}
	for _, after := range []bool{false, true} {
		if after {
			over := c.label()
			s.pids(c, over)
			if s.test != nil {
				c.test(s.test, over)
			}
			c.put(s, e.size, over)
			c.line("%s:", over)
		}
		for _, t := range s.triggers {
			if t.after() == after {
				c.trigger(s, t)
			}
		}
	}
	c.end()
	return c, kind, nil
}

// Bits of what pidMap has of a process.
const (
	pidTraced = 1 // set_event_pid names it, or its parent
	pidLeft   = 2 // set_event_notrace_pid does
)

// pids continues at over for processes that set_event_pid does not name, or that set_event_notrace_pid does. A switch to
// a process that is named is recorded, too.
func (s *state) pids(c *code, over string) {
	if len(s.in.pids[true]) > 0 {
		in := c.label()
		c.pid("common_pid", s.event, pidLeft, over, in)
		c.line("%s:", in)
	}
	if len(s.in.pids[false]) == 0 {
		return
	}
	in := c.label()
	if s.event.String() == "sched:sched_switch" {
		next := c.label()
		c.pid("prev_pid", s.event, pidTraced, in, next)
		c.line("%s:", next)
		c.pid("next_pid", s.event, pidTraced, in, over)
	} else {
		c.pid("common_pid", s.event, pidTraced, in, over)
	}
	c.line("%s:", in)
}

// pid jumps to yes if pidMap has a bit of a process that a field names, else to no.
func (c *code) pid(name string, e *event, bit int, yes, no string) {
	c.line("r1 = *(u32 *)(r7 + %d)\n*(u32 *)(r10 - 4) = r1", recordAt+e.field(name).Offset)
	c.lookup(pidMap, 4, no)
	c.line("r1 = *(u32 *)(r0 + 0)\nif r1 & %d goto %s\ngoto %s", bit, yes, no)
}

// follow notes that the children of processes in pidMap are like their parents: it is the program of
// sched:sched_process_fork for the option event-fork.
func (c *code) follow(e *event) {
	c.line("r1 = *(u32 *)(r7 + %d)\n*(u32 *)(r10 - 4) = r1", recordAt+e.field("parent_pid").Offset)
	c.lookup(pidMap, 4, "out")
	c.line("r1 = *(u32 *)(r0 + 0)\n*(u32 *)(r10 - 8) = r1\nr1 = *(u32 *)(r7 + %d)\n*(u32 *)(r10 - 4) = r1", recordAt+e.field("child_pid").Offset)
	c.line("r1 = map[idx:%d]\nr2 = r10\nr2 += -4\nr3 = r10\nr3 += -8\nr4 = 0\ncall 2", pidMap)
}
