package run

import (
	"fmt"

	"sonde/trace/lang"
)

// ledger is the sum of all probes' counts.
type ledger struct {
	handled, missed, recursion uint64
	unexplained                int64
}

// ledger says what was lost, and with -v how much there was.
func (s *session) ledger(l ledger) error {
	ring := s.maps[lang.RingMap].Lost()
	if s.Ledger {
		fmt.Fprintf(s.Err, "bt: %d hits handled, %d missed, %d inside other programs, %d unexplained; %d records lost\n", l.handled, l.missed, l.recursion, l.unexplained, ring)
	}
	if ring > 0 {
		fmt.Fprintf(s.Err, "bt: %d events lost: the ring was full\n", ring)
	}
	for _, m := range s.Unit.Maps {
		if lost := s.maps[m.Index].Lost(); lost > 0 {
			fmt.Fprintf(s.Err, "bt: %d values lost: %s was full; config = { max_map_keys = %d } makes it larger\n", lost, m.Name, 4*s.Unit.Settings.MaxKeys)
		}
	}
	if l.unexplained != 0 {
		fmt.Fprintf(s.Err, "bt: %d hits are not accounted for\n", l.unexplained)
	}
	return nil
}
