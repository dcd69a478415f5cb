//go:build tamago

package attach

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/ktest/suites"
	"sonde/probe/attach"
)

func init() {
	suites.Add("attach/watchpoint", watchpoint)
	suites.Add("attach/function_and_variable", functionAndVariable)
	suites.Add("attach/watchpoints_all_or_none", watchAllOrNone)
}

// watched is written by the cases.
var watched, other uint64

//go:noinline
func write(p *uint64, v uint64) { *p = v }

// seen are the values of the last hit.
var seen struct{ old, new, ip atomic.Uint64 }

func noteValues(h *attach.Hit) {
	hits.Add(1)
	seen.old.Store(h.Old)
	seen.new.Store(h.New)
	seen.ip.Store(h.IP)
}

func watchpoint(t *suites.T) {
	hits.Store(0)
	watched = 1
	l := attachTo(t, noteValues, nil, "w@"+pkg+"watched")
	write(&watched, 2)
	if hits.Load() != 1 || seen.old.Load() != 1 || seen.new.Load() != 2 || !strings.Contains(where(seen.ip.Load()), "attach.write+") {
		t.Errorf("%d hits, %d -> %d at %s", hits.Load(), seen.old.Load(), seen.new.Load(), where(seen.ip.Load()))
	}
	t.Must(l.Enable(false))
	write(&watched, 3)
	t.Must(l.Enable(true))
	write(&watched, 4)
	if hits.Load() != 2 || seen.old.Load() != 3 {
		t.Errorf("disabled for a write: %d hits, the last one from %d", hits.Load(), seen.old.Load())
	}
	if p := l.Places(); len(p) != 1 || !strings.HasPrefix(p[0].Way, "debug register ") || p[0].Ledger.Handled != 2 {
		t.Errorf("%+v", p)
	}
	l.Close()
	write(&watched, 5)
	expect(t, l, 2, 2)
}

// functionAndVariable: one handler for places of two kinds.
func functionAndVariable(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, nil, "w@"+pkg+"watched", pkg+"square", "rw@"+pkg+"other:8")
	for i := range uint64(20) {
		write(&watched, square(i))
		write(&other, i)
	}
	l.Close()
	expect(t, l, 60, 60)
	if hits.Load() != 60 {
		t.Errorf("%d hits", hits.Load())
	}
}

// watchAllOrNone: there are four registers, so the fifth is refused and the kprobe before is removed.
func watchAllOrNone(t *suites.T) {
	w := "x@" + pkg + "square"
	_, err := attach.AttachTo(countHit, nil, pkg+"squareToo", w, w, w, w, w)
	if !errors.Is(err, syscall.EBUSY) {
		t.Errorf("five watchpoints: %v", err)
	}
	hits.Store(0)
	square(squareToo(2))
	if hits.Load() != 0 {
		t.Errorf("%d hits of what was refused", hits.Load())
	}
	_, err = attach.AttachTo(countHit, &attach.Options{Block: true}, "w@"+pkg+"watched")
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "w@"+pkg+"watched") {
		t.Errorf("a handler that may block: %v", err)
	}
}
