package program

import (
	"fmt"
	"io"

	"sonde/probe/ledger"
)

// Account is what became of the hits of a program:
//
//	Hits = Run + Recursion + Disarmed + Throttled + Held + Unexplained
//
// Hits is what the probes have counted. Of a program that was metered from the beginning, Run is what its
// door has counted, so that Unexplained compares two counts; of others it is what is left. While hits come, each
// number but Unexplained is one of those that it had meanwhile, or less: never more than what has happened.
type Account struct {
	Hits      uint64
	Run       uint64
	Recursion uint64 // inside of a program or a handler on the same CPU
	Disarmed  uint64 // while the probe was disabled, or could not call its handler
	NoInst    uint64 // of Disarmed: calls of a return probe, entered when it had room for no more
	Throttled uint64 // beyond the budget
	Held      uint64 // before all programs of a file were attached, or after the first was not
	Unset     uint64 // places in programs where its probes could not be set: no hits
	Why       string // of these, the first reason

	Unexplained int64
}

// Account returns what became of the program's hits, but for those in flight.
func (p *Prog) Account() Account {
	early := p.counts()
	l := p.Ledger()
	late := p.counts()
	a := p.account(l, &early, &late)
	switch u := a.Unexplained; {
	case u > 0: // they may have come after early was read
		if p.account(l, &late, &late).Unexplained > 0 && ledger.Settle != nil { // some have been counted, and not begun
			ledger.Settle()
			late = p.counts()
		}
		if lost := p.account(l, &late, &late); lost.Unexplained > 0 {
			return lost
		}
		a.Hits, a.Unexplained = a.Hits-uint64(u), 0
	case u < 0 && uint64(-u) <= l.InFlight: // what was counted is in flight: as a rule it has not run yet
		ran := min(uint64(-u), a.Run)
		a.Hits, a.Run, a.Unexplained = a.Hits+uint64(-u)-ran, a.Run-ran, 0
	}
	return a
}

// counts are what a program itself has counted: on the way into it, while the hit is handled.
type counts struct {
	Cost          // of all CPUs
	nested uint64 // of Entered
}

// counts reads them. What has come in is read first: what is nested is part of that.
func (p *Prog) counts() (c counts) {
	for _, cost := range p.Costs() {
		c.Cost = c.Plus(cost)
	}
	c.nested = p.Recursion()
	return c
}

// account compares what the probes say with what the program had counted. late was read after l.
func (p *Prog) account(l ledger.Ledger, c, late *counts) Account {
	a := Account{Hits: l.Entered - l.InFlight, Recursion: c.nested + l.Recursion, Disarmed: l.Disarmed + l.NoInst + l.Abandoned + l.Declined,
		NoInst: l.NoInst, Unset: l.Unset, Why: l.Why, Throttled: c.Throttled, Held: c.Idle}
	run := l.Handled - late.nested - late.Throttled - late.Idle
	p.mu.Lock()
	if p.always {
		run = c.Entered - c.nested - l.Abandoned
	}
	p.mu.Unlock()
	a.Run = uint64(max(0, int64(run))) // more may have come than was handled when l was read
	a.Unexplained = int64(a.Hits - a.Run - a.Recursion - a.Disarmed - a.Throttled - a.Held)
	return a
}

// writeLedger prints what became of all programs' hits and records, and what each CPU knows of it.
func writeLedger(w io.Writer) {
	fmt.Fprintln(w, "PROGRAM              HITS =     RUN + RECURSION + DISARMED + THROTTLED + INACTIVE   RECORDS =    READ + DISCARDED + WAITING + LOST_FULL   MAP_LOST  UNEXPLAINED")
	for _, p := range Programs() {
		a := p.Account()
		var written, read, discarded, full, lost uint64
		for _, m := range p.Maps() {
			if r := m.Ring(); r == nil {
				lost += m.Lost()
			} else {
				l := r.Ledger()
				written, read, discarded, full = written+l.Written, read+l.Read, discarded+l.Discarded, full+l.Lost
			}
		}
		fmt.Fprintf(w, "%-15s %9d %9d %11d %10d %11d %10d %11d %9d %11d %9d %11d %10d %12d\n", p.Checked.Program.Name, a.Hits, a.Run, a.Recursion, a.Disarmed, a.Throttled, a.Held,
			written+discarded+full, read, discarded, written-read, full, lost, a.Unexplained)
		if a.Unset > 0 {
			fmt.Fprintf(w, "  unset at %d of its places in programs: %s\n", a.Unset, a.Why)
		}
		for cpu, c := range p.Costs() {
			nested := p.nested[cpu].n
			fmt.Fprintf(w, "  CPU %-2d %17s %9d %11d %10s %11d %10d\n", cpu, "", c.Entered-nested, nested, "", c.Throttled, c.Idle)
		}
	}
}

// writeCost prints what programs have cost while they were metered.
func writeCost(w io.Writer) {
	fmt.Fprintln(w, "PROGRAM         CPU       HITS    MEASURED    NS/HIT   THROTTLED   BUDGET")
	for _, p := range Programs() {
		for cpu, c := range p.Costs() {
			fmt.Fprintf(w, "%-15s %3d %10d %11d %9.0f %11d %7.1f%%\n", p.Checked.Program.Name, cpu, c.Entered, c.Measured, c.PerHit(), c.Throttled, float64(p.Budget())/10)
		}
	}
}
