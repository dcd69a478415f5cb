package perf

import (
	"testing"

	"sonde/probe/attach"
	"sonde/probe/program"
)

// loaded returns a program for kprobes.
func loaded(t *testing.T) *program.Prog {
	t.Helper()
	p, _, err := program.Assemble("nothing", "r0 = 0\nexit")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := program.Load(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// TestNothingIsLeftOfAClosedEvent, whatever was done with it: no link, no place that is still probed; and whoever has
// loaded its program can close it.
func TestNothingIsLeftOfAClosedEvent(t *testing.T) {
	set := func(e *Event, p *program.Prog) {
		if err := e.SetProgram(p, 7); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(e *Event, p *program.Prog) {
		pages, _, err := e.Map(0, 2*pageSize, true, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pages.Drop)
	}
	for _, tt := range []struct {
		what  string
		a     Attr
		links int // that the event has at the end
		do    func(e *Event, p *program.Prog)
	}{
		{"it counts", Attr{Type: kprobe}, 1, func(*Event, *program.Prog) {}},
		{"it is disabled", Attr{Type: kprobe, Flags: flagDisabled}, 1, func(*Event, *program.Prog) {}},
		{"it runs a program", Attr{Type: kprobe}, 1, set},
		{"it has lost its program", Attr{Type: kprobe}, 1, func(e *Event, p *program.Prog) { set(e, p); e.DropProgram() }},
		{"it has its second program", Attr{Type: kprobe}, 1, func(e *Event, p *program.Prog) { set(e, p); e.DropProgram(); set(e, p) }},
		{"it is a clock that is heard", Attr{Type: software, Config: cpuClock, Period: 1e6}, 1, heard},
		{"it is one that is not", Attr{Type: software, Config: cpuClock, Period: 1e6}, 0, func(*Event, *program.Prog) {}},
	} {
		attached, links, programs, places := len(attach.Links()), len(program.Links()), len(program.Programs()), len(fakes)
		p, e := loaded(t), open(t, tt.a)
		tt.do(e, p)
		if n := len(attach.Links()) - attached; n != tt.links {
			t.Errorf("%s: it has %d links, want %d", tt.what, n, tt.links)
		}
		e.Close()
		if a, l := len(attach.Links())-attached, len(program.Links())-links; a != 0 || l != 0 {
			t.Errorf("%s, and is closed: %d links and %d of programs are left", tt.what, a, l)
		}
		if p.Close(); len(program.Programs()) != programs {
			t.Errorf("%s, and is closed: its program is left", tt.what)
		}
		for _, f := range fakes[places:] {
			if !f.closed {
				t.Errorf("%s, and is closed: a place is still probed", tt.what)
			}
		}
	}
}
