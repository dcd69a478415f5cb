package tracefs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// A trigger is what an event does besides being recorded: CMD[:ARGS][:COUNT] [if FILTER].
type trigger struct {
	kind   string // traceon, traceoff, snapshot, stacktrace, enable_event, disable_event, hist
	target *state // of enable_event and disable_event
	count  int64  // times that it does something; -1: always
	slot   int    // the word of control that counts them down; 0: none
	filter string
	test   *test
	hist   *hist
}

const triggerHelp = "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event disable_event hist\n"

// String is the trigger as the file lists it.
func (t *trigger) String() string {
	text := t.kind
	switch {
	case t.hist != nil:
		text = t.hist.String()
	case t.target != nil:
		text += ":" + t.target.event.String()
	}
	if t.hist == nil && t.count < 0 {
		text += ":unlimited"
	} else if t.hist == nil {
		text += fmt.Sprintf(":count=%d", t.count)
	}
	if t.filter != "" {
		text += " if " + t.filter
	}
	if t.hist != nil {
		text += " [" + t.hist.status() + "]"
	}
	return text
}

// same tells whether an event can have only one of two triggers.
func (t *trigger) same(o *trigger) bool {
	class := func(t *trigger) string {
		return strings.NewReplacer("traceon", "trace", "traceoff", "trace", "disable_event", "enable_event").Replace(t.kind)
	}
	if t.hist != nil && o.hist != nil {
		return t.hist.String() == o.hist.String() && t.filter == o.filter
	}
	return class(t) == class(o) && t.target == o.target
}

// triggersText is what the file says.
func (s *state) triggersText() string {
	if s == nil || len(s.triggers) == 0 {
		return triggerHelp
	}
	var b strings.Builder
	for _, t := range s.triggers {
		b.WriteString(t.String() + "\n")
	}
	return b.String()
}

// parseTrigger reads a trigger.
//
// With gone, it is one that is to be removed: how often and when it acts does not matter.
func (s *state) parseTrigger(text string, gone bool) (*trigger, error) {
	head, filter := text, ""
	if i := strings.Index(text, " if "); i >= 0 {
		head, filter = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+4:])
	}
	kind, rest, more := strings.Cut(head, ":")
	t := &trigger{kind: kind, count: -1, filter: filter}
	no := func(format string, args ...any) error {
		return refusal.New(syscall.EINVAL, "trigger %s: %s", brief(text), brief(fmt.Sprintf(format, args...)))
	}
	switch kind {
	case "traceon", "traceoff", "snapshot", "stacktrace":
	case "enable_event", "disable_event":
		system, name, ok := strings.Cut(rest, ":")
		name, rest, more = strings.Cut(name, ":")
		e := find(system, name)
		if !ok || e == nil || e == printEvent {
			return nil, no("there is no event %s:%s", system, name)
		}
		t.target = s.in.state(e)
	case "hist":
		h, err := s.parseHist(rest, head)
		if err != nil {
			return nil, err
		}
		t.hist, more = h, false
	default:
		return nil, no("there are traceon traceoff snapshot stacktrace enable_event disable_event hist")
	}
	if more && !gone {
		n, err := strconv.ParseInt(rest, 0, 63)
		if err != nil || n < 0 {
			return nil, no("%q is not how often", rest)
		}
		t.count = n
	}
	if filter != "" && !(gone && t.hist == nil) {
		parsed, err := s.event.parseFilter(filter)
		if err != nil {
			return nil, err
		}
		t.test = parsed
	}
	return t, nil
}

// setTrigger adds a trigger, or with ! removes one.
func (s *state) setTrigger(text string) error {
	if err := short(text); err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		return s.removeTrigger(strings.TrimSpace(rest))
	}
	t, err := s.parseTrigger(text, false)
	if err != nil {
		return err
	}
	if t.hist != nil && t.hist.command != "" {
		return s.command(t)
	}
	if slices.ContainsFunc(s.triggers, t.same) {
		return refusal.New(syscall.EEXIST, "%s has such a trigger: %s", s.event, t)
	}
	if t.kind == "snapshot" {
		s.in.allocate()
	}
	return s.change(append(slices.Clone(s.triggers), t), t, nil)
}

func (s *state) removeTrigger(text string) error {
	t, err := s.parseTrigger(text, true)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(s.triggers, t.same)
	if at < 0 {
		return refusal.New(syscall.ENOENT, "%s has no such trigger: %s", s.event, brief(text))
	}
	return s.change(slices.Delete(slices.Clone(s.triggers), at, at+1), nil, s.triggers[at])
}

// change has an event have other triggers: with one more, or one less.
func (s *state) change(all []*trigger, added, removed *trigger) error {
	var c change
	old := s.triggers
	if added != nil {
		if err := added.prepare(s, &c); err != nil {
			return err
		}
	}
	s.triggers = all
	if err := s.arm(&c); err != nil {
		s.triggers = old
		if added != nil {
			added.drop(s)
		}
		return err
	}
	c.complete()
	if removed != nil {
		removed.drop(s)
	}
	return nil
}

// prepare gives a trigger what its program needs.
func (t *trigger) prepare(s *state, c *change) error {
	i := s.in
	if err := i.prepare(); err != nil {
		return err
	}
	if t.count >= 0 {
		at, err := i.take(1)
		if err != nil {
			return err
		}
		t.slot = at
		i.word(at, uint64(t.count))
	}
	if t.hist != nil {
		return t.hist.prepare()
	}
	if t.target != nil {
		t.target.wanted++
		if err := t.target.arm(c); err != nil {
			t.target.wanted--
			if t.slot != 0 {
				i.release(t.slot, 1)
			}
			return err
		}
		s.in.comeUp(numCPU())
	}
	return nil
}

// drop gives back what prepare gave.
func (t *trigger) drop(s *state) {
	if t.slot != 0 {
		s.in.release(t.slot, 1)
	}
	if t.hist != nil {
		t.hist.close()
	}
	if t.target != nil {
		var c change
		o := t.target
		if o.wanted--; o.slot != 0 && o.wanted == 0 {
			s.in.set(o.slot+1, o.on)
		}
		if o.arm(&c) == nil {
			c.complete()
		}
	}
}

// trigger does what a trigger asks for.
func (c *code) trigger(s *state, t *trigger) {
	over := c.label()
	if t.test != nil {
		c.test(t.test, over)
	}
	if t.slot != 0 {
		do := c.label()
		c.control(t.slot)
		c.line("r2 = -1\nr2 = atomic_fetch_add((u64 *)(r0 + 0), r2)\nif r2 s> 0 goto %s\nr2 = 1\nlock *(u64 *)(r0 + 0) += r2\ngoto %s\n%s:", do, over, do)
	}
	switch t.kind {
	case "traceon", "traceoff":
		c.set(tracingOn, t.kind == "traceon")
	case "enable_event", "disable_event":
		c.set(t.target.slot+1, t.kind == "enable_event")
	case "snapshot":
		c.line("*(u16 *)(r7 + %d) = %d", recordAt, snapshotID)
		c.output(commonSize)
		c.line("*(u16 *)(r7 + %d) = %d", recordAt, s.event.id)
	case "stacktrace":
		c.line("*(u16 *)(r7 + %d) = %d\nr1 = r6\nr2 = r7\nr2 += %d\nr3 = %d\nr4 = 0\ncall 67", recordAt, stackID, recordAt+commonSize, 8*mostCalls)
		c.output(commonSize + 8*mostCalls)
	case "hist":
		c.hist(t.hist, over)
	}
	c.line("%s:", over)
}

// mostCalls is how many calls of a stack are recorded.
const mostCalls = 32

// set sets a control word to 1 or 0.
func (c *code) set(word int, on bool) {
	c.control(word)
	value := 0
	if on {
		value = 1
	}
	c.line("*(u64 *)(r0 + 0) = %d", value)
}

// after tells whether a trigger acts when the event has been recorded. A stack takes the place of the record.
func (t *trigger) after() bool { return t.kind == "snapshot" || t.kind == "stacktrace" }
