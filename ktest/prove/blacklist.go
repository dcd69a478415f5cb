//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sonde/qemu/machine"
)

// blacklist is part 3.
var blacklist = Part{
	Name:  "blacklist",
	Says:  "a probe on each blacklisted function, with the check off, on a machine that this may crash",
	Units: blacklistUnits,
}

// blackPerUnit is small: most of them need a boot each.
const (
	blackPerUnit = 10
	deadly       = 20 * time.Second // of silence: it hangs
)

func blacklistUnits(m *Machines) (all []Unit, err error) {
	_, n, err := m.size()
	for from := 0; from < n; from += blackPerUnit {
		to := min(from+blackPerUnit, n)
		all = append(all, Unit{
			Name: fmt.Sprintf("%03d-%03d", from, to), Cost: time.Duration(to-from) * 6 * time.Second,
			Run: func(ctx context.Context) Outcome { return m.blacklisted(ctx, from, to) },
		})
	}
	return all, err
}

// blacklisted probes functions that must not be, and notes what happens. That the machine crashes is
// not a finding here.
func (m *Machines) blacklisted(ctx context.Context, from, to int) (o Outcome) {
	for from < to {
		var found Outcome
		h, err := m.prove(ctx, machine.Config{SMP: 2}, deadly, fmt.Sprintf("blacklist %d %d", from, to), &found, func(line string) { o.live(line) })
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			o.Err = err
			return o
		}
		for _, f := range found.Findings {
			o.add("wrong result", 1)
			o.Notes = append(o.Notes, "wrong: "+f)
		}
		if h.ended {
			return o
		}
		o.add(dies(h.why), 1)
		o.Notes = append(o.Notes, fmt.Sprintf("dies: %s: %s", h.at, h.why))
		if h.next <= from {
			o.Findings = append(o.Findings, "the machine ended without a probe: "+h.why)
			return o
		}
		from = h.next
	}
	return o
}

// live takes the line of a function whose probe the machine survives.
func (o *Outcome) live(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "lives" && strings.HasSuffix(rest, " 0"):
		o.add("lives, not hit", 1)
		o.Notes = append(o.Notes, "not hit: "+strings.TrimSuffix(rest, " 0"))
	case word == "lives":
		o.add("lives", 1)
		o.Notes = append(o.Notes, "lives: "+rest+" hits")
	case word == "refused":
		o.add("refused for another reason", 1)
		o.Notes = append(o.Notes, "refused: "+rest)
	}
}

func dies(why string) string {
	if why == "it hung" {
		return "hangs"
	}
	return "dies"
}
