package tracefs

import (
	"slices"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
)

// enable switches an event on or off. Called with mu held.
func (s *state) enable(c *change, on bool) error {
	if s.on == on {
		if s.slot != 0 {
			s.in.set(s.slot+1, on) // a trigger may have changed it
		}
		return nil
	}
	s.on = on
	attached := s.slot != 0
	if err := s.arm(c); err != nil {
		s.on = !on
		return err
	}
	if attached && s.slot != 0 {
		s.in.set(s.slot+1, on)
	}
	if on {
		s.in.comeUp(numCPU())
	}
	return nil
}

// mark records what is written to trace_marker. Called with mu held.
//
// Errors: EINVAL options/markers is 0; EBADF tracing is off; and those of arm.
func (i *instance) mark(text string) error {
	switch {
	case !i.option("markers"):
		return refusal.New(syscall.EINVAL, "options/markers is 0")
	case !i.tracing():
		return refusal.New(syscall.EBADF, "tracing_on is 0")
	}
	s := i.state(printEvent)
	if s.slot == 0 {
		var c change
		if err := s.arm(&c); err != nil {
			return err
		}
		c.complete()
	}
	i.comeUp(numCPU())
	for len(text) > 0 {
		part := text[:min(len(text), mostMarked-1)]
		text = text[len(part):]
		words := make([]uint64, bpf.RecordSize/8)
		for k, c := range []byte(part) {
			words[2+k/8] |= uint64(c) << (k % 8 * 8)
		}
		for _, p := range s.progs {
			p.Run("", words)
		}
	}
	i.Lock()
	i.drain()
	i.Unlock()
	return nil
}

// setFilter has an event record only what meets a condition.
func (s *state) setFilter(text string) error {
	if err := short(text); err != nil {
		return err
	}
	t, err := s.event.parseFilter(text)
	if err != nil {
		return err
	}
	old := *s
	if s.test, s.filter = t, strings.TrimSpace(text); t == nil {
		s.filter = ""
	}
	if s.slot == 0 {
		return nil
	}
	var c change
	if err := s.arm(&c); err != nil {
		s.test, s.filter = old.test, old.filter
		return err
	}
	c.complete()
	return nil
}

// busy tells whether any instance does something with an event. Called with mu held.
func busy(e *event) bool {
	for _, i := range instances() {
		if s := i.states[e]; s != nil && s.needed() {
			return true
		}
	}
	return slices.ContainsFunc(made, func(o *event) bool {
		return slices.ContainsFunc(o.probes, func(p *probe) bool { return p.attached == e })
	})
}

// forget drops what instances know of an event that goes.
func forget(e *event) {
	e.gone = true
	for _, i := range instances() {
		delete(i.states, e)
	}
}

var more []*instance // those of instances/; guarded by mu

func instances() []*instance { return append([]*instance{top}, more...) }
