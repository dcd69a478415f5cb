package run

import (
	"fmt"

	"sonde/probe/program"
	"sonde/trace/lang"
	"sonde/trace/out"
)

// accounts returns what became of the hits of each program. The probes are gone.
func (s *session) accounts() (all []program.Account) {
	for _, p := range s.progs {
		all = append(all, p.Account())
	}
	return all
}

// ledger says what was lost or throttled, and with -v what became of all hits and records.
func (s *session) ledger() {
	all := s.accounts()
	if s.Ledger {
		s.table(all)
	}
	for i, a := range all {
		if a.Throttled > 0 {
			fmt.Fprintf(s.Err, "bt: %s: %d of %d hits throttled: the probe took more than %g %% of a CPU (-B)\n", s.point(i), a.Throttled, a.Hits, float64(s.Budget)/10)
		}
		if a.NoInst > 0 {
			fmt.Fprintf(s.Err, "bt: %s: %d of %d calls missed: more at the same time than the probe has room for\n", s.point(i), a.NoInst, a.Hits)
		}
		if a.Unset > 0 {
			fmt.Fprintf(s.Err, "bt: %s: unset at %d of its places in programs, where no hit is seen: %s\n", s.point(i), a.Unset, a.Why)
			s.Out.Unset(s.point(i), a.Unset, a.Why)
		}
		if a.Unexplained != 0 {
			fmt.Fprintf(s.Err, "bt: %s: %d hits are not accounted for\n", s.point(i), a.Unexplained)
		}
	}
	if lost := s.speculations.Lost; lost > 0 {
		fmt.Fprintf(s.Err, "bt: %d records of speculations lost: too much waits for commit() or discard()\n", lost)
	}
	if lost := s.maps[lang.RingMap].Lost(); lost > 0 {
		fmt.Fprintf(s.Err, "bt: %d events lost: the ring was full\n", lost)
	}
	for _, m := range s.Unit.Maps {
		if lost := s.maps[m.Index].Lost(); lost > 0 {
			fmt.Fprintln(s.Err, "bt: "+out.Full(m, uint64(lost), s.Unit.Settings.MaxKeys))
		}
	}
}

// table prints a line for each probe, and one for the records of all of them.
func (s *session) table(all []program.Account) {
	fmt.Fprintln(s.Err, "     HITS =      RUN + RECURSION + DISARMED + THROTTLED  UNEXPLAINED  PROBE")
	for i, a := range all {
		if once(s.Unit.Programs[i].Point) {
			continue // it was run, and nothing was hit
		}
		fmt.Fprintf(s.Err, "%9d %10d %11d %10d %11d %12d  %s\n", a.Hits, a.Run, a.Recursion, a.Disarmed, a.Throttled, a.Unexplained, s.point(i))
	}
	r := s.maps[lang.RingMap].Ring().Ledger()
	fmt.Fprintf(s.Err, "bt: %d records = %d read + %d lost\n", r.Written+r.Lost, r.Read, r.Lost)
}

func (s *session) point(i int) string { return s.Unit.Programs[i].Point.Text }
