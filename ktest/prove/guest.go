//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// Machines boots the image with tests.
type Machines struct {
	Image string
	Deep  bool // take hours: the instructions of one function at a time, and more random states
}

// limit is for a boot that does work, on a host that does other work as well; silence is how long a
// machine may say nothing, while the host lets it run, before it counts as hung.
const (
	limit   = 2 * time.Hour
	silence = 4 * time.Minute
)

// A heard is what one run of the command prove has printed.
type heard struct {
	ended bool
	next  int    // where to continue
	at    string // what was probed when nothing more was heard
	why   string // how the machine ended, if not as it should
}

// prove boots a machine that runs the command prove with args, adds what it prints to o, and calls
// line with each line that is not of the usual kinds.
//
// Errors: those of QEMU. That the machine ends badly is not an error.
func (m *Machines) prove(ctx context.Context, c machine.Config, quiet time.Duration, args string, o *Outcome, line func(string)) (heard, error) {
	var h heard
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var said atomic.Int64 // lines
	lines := &liner{each: func(text string) {
		said.Add(1)
		h.hear(text, o, line)
	}}
	c.Image, c.Script, c.Stdout = m.Image, "prove "+args, lines
	if c.Timeout == 0 {
		c.Timeout = limit
	}
	s, err := machine.Start(ctx, c)
	if err != nil {
		return h, err
	}
	go func() {
		if hush(ctx, quiet, &said, s.Shares) {
			cancel()
		}
	}()
	r, err := s.Wait()
	switch {
	case errors.Is(err, machine.ErrInterrupted) && !h.ended:
		h.why = "it hung"
	case errors.Is(err, machine.ErrTimeout):
		h.why = "it took too long"
	case err != nil:
		return h, err
	case r.Crash:
		h.why = r.Reason
	case !h.ended:
		h.why = fmt.Sprintf("status %d", r.Status)
	}
	return h, nil
}

// hush returns true when nothing has been said for as long as quiet, false when ctx ends. Time in which a
// thread waited for a processor of the host does not count, since the others may wait for that one; but a
// thread that has run for as long as quiet is enough.
func hush(ctx context.Context, quiet time.Duration, said *atomic.Int64, shares func() map[string]machine.Share) bool {
	tick := time.NewTicker(quiet / 20)
	defer tick.Stop()
	last, since, before := said.Load(), time.Now(), shares()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if n := said.Load(); n != last {
			last, since, before = n, time.Now(), shares()
			continue
		}
		var ran, delayed time.Duration
		for thread, had := range shares() {
			ran = max(ran, had.Ran-before[thread].Ran)
			delayed += had.Delayed - before[thread].Delayed
		}
		if max(ran, time.Since(since)-delayed) >= quiet {
			return true
		}
	}
}

// hear takes a line of the command prove.
func (h *heard) hear(text string, o *Outcome, line func(string)) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "at":
		next, what, _ := strings.Cut(rest, " ")
		h.next, _ = strconv.Atoi(next)
		h.at = what
	case "count":
		name, n, _ := strings.Cut(rest, " ")
		v, _ := strconv.Atoi(n)
		o.add(strings.ReplaceAll(name, "-", " "), v)
	case "finding":
		o.Findings = append(o.Findings, rest)
	case "note":
		o.Notes = append(o.Notes, rest)
	case "sum":
		if o.Sum != "" && o.Sum != rest {
			o.Findings = append(o.Findings, fmt.Sprintf("without probes the work came to %s in one boot and to %s in another", o.Sum, rest))
		}
		o.Sum = rest
	case "end":
		h.ended = true
	default:
		line(text)
	}
}

// sweep runs the command prove over a range. Where the machine crashes it continues after that
// place, with a new machine.
func (m *Machines) sweep(ctx context.Context, c machine.Config, what string, from, to int, line func(string)) (o Outcome) {
	for from < to {
		args := fmt.Sprintf("%s %d %d", what, from, to)
		if m.Deep && what == "boundaries" {
			args += " single"
		}
		h, err := m.prove(ctx, c, silence, args, &o, line)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			o.Err = err
			return o
		}
		if h.ended && h.why == "" {
			return o
		}
		o.Findings = append(o.Findings, fmt.Sprintf("the machine ended at %s: %s", h.at, h.why))
		if h.next <= from {
			return o
		}
		from = h.next
	}
	return o
}

// Cases returns units that boot the image and run the kernel's own tests, one for each
// pattern, those that take long as well. What fails, crashes or leaks is a finding;
// a remark "count: NAME N" is a count.
func (m *Machines) Cases(smp int, cost time.Duration, patterns ...string) (all []Unit) {
	for _, pattern := range patterns {
		all = append(all, Unit{
			Name: fmt.Sprintf("%s smp%d", pattern, smp), Cost: cost,
			Run: func(ctx context.Context) Outcome { return m.cases(ctx, machine.Config{SMP: smp}, pattern) },
		})
	}
	return all
}

func (m *Machines) cases(ctx context.Context, c machine.Config, pattern string) (o Outcome) {
	c.Image, c.Timeout = m.Image, limit
	c.Script = "sysctl -w debug.ktest-long=1; ktest " + pattern
	r, err := machine.Run(ctx, c)
	if err != nil && !errors.Is(err, machine.ErrTimeout) {
		return Outcome{Err: err}
	}
	wrong := func(format string, args ...any) { o.Findings = append(o.Findings, fmt.Sprintf(format, args...)) }
	seen := report.Parse(string(r.Stdout))
	for _, k := range seen.Cases {
		switch k.Verdict {
		case report.Fail:
			wrong("%s: %s", k.Name, k.Why)
		case report.Unfinished:
			wrong("%s: the machine ended here: %s", k.Name, r.Reason)
		case report.OK:
			o.add("cases", 1)
		}
		for _, remark := range k.Remarks {
			o.counted(remark)
		}
	}
	for _, l := range seen.Leaked() {
		wrong("leaked %s: %d before, %d after", l.Name, l.Before, l.After)
	}
	if seen.Summary == "" || len(seen.Cases) == 0 {
		wrong("%s: the cases did not run to their end (%v)", pattern, err)
	}
	return o
}

// counted takes a remark of the form "count: NAME N".
func (o *Outcome) counted(remark string) {
	rest, ok := strings.CutPrefix(remark, "count: ")
	if at := strings.LastIndexByte(rest, ' '); ok && at > 0 {
		if n, err := strconv.Atoi(rest[at+1:]); err == nil {
			o.add(rest[:at], n)
		}
	}
}

// A liner calls each with every line that is written to it, without its end.
type liner struct {
	each func(string)
	part []byte
}

func (l *liner) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		at := bytes.IndexByte(l.part, '\n')
		if at < 0 {
			return len(p), nil
		}
		l.each(strings.TrimSuffix(string(l.part[:at]), "\r"))
		l.part = l.part[at+1:]
	}
}
