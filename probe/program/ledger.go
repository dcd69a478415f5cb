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
// door has counted, so that Unexplained compares two counts; of others it is what is left.
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
	nested, sum := p.Recursion(), p.measured() // before the probes are asked
	l := p.Ledger()
	a := p.account(l, nested, sum)
	if a.Unexplained > 0 { // the probes may have counted hits that came meanwhile
		if late := p.account(l, p.Recursion(), p.measured()); late.Unexplained > 0 {
			return late
		}
	}
	if a.Unexplained > -int64(l.InFlight)-1 { // those that have run and are in flight have not run yet
		a.Run, a.Unexplained = a.Run+uint64(a.Unexplained), 0
	}
	return a
}

// measured is what all CPUs have.
func (p *Prog) measured() (sum Cost) {
	for _, c := range p.Costs() {
		sum = sum.Plus(c)
	}
	return sum
}

// account compares what the probes say with what the program has counted.
func (p *Prog) account(l ledger.Ledger, nested uint64, sum Cost) Account {
	a := Account{Hits: l.Entered - l.InFlight, Recursion: nested + l.Recursion, Disarmed: l.Disarmed + l.NoInst + l.Abandoned + l.Declined,
		NoInst: l.NoInst, Unset: l.Unset, Why: l.Why, Throttled: sum.Throttled, Held: sum.Idle}
	a.Run = l.Handled - nested - sum.Throttled - sum.Idle
	p.mu.Lock()
	if p.always {
		a.Run = sum.Entered - nested - l.Abandoned
	}
	p.mu.Unlock()
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
