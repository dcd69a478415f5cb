package source

import (
	"fmt"
	"strconv"

	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/trace/lang"
)

// softwareEvents are what Linux counts by itself: the places where they happen here, and how many of them
// happen between two hits if the script does not say.
//
// Source: perf_event_open(2).
var softwareEvents = map[string]struct {
	place string
	every uint64
}{
	"page-faults":      {"sonde/linux/proc.(*Thread).pageFault", 100},
	"faults":           {"sonde/linux/proc.(*Thread).pageFault", 100},
	"minor-faults":     {"sonde/linux/proc.(*Thread).pageFault", 100},
	"context-switches": {"runtime.execute", 1000},
	"cs":               {"runtime.execute", 1000},
	"cpu-clock":        {"", 1_000_000},
	"cpu":              {"", 1_000_000},
	"task-clock":       {"", 1_000_000},
}

// software returns the place of software:EVENT:COUNT, and how many of its hits make one. Clocks count ns.
func software(o []string) (site attach.Site, every uint64, err error) {
	e, ok := softwareEvents[o[0]]
	if !ok {
		var names []string
		for name := range softwareEvents {
			names = append(names, name)
		}
		return site, 0, &lang.Hinted{Why: "there is no software event " + o[0], Hint: kallsyms.DidYouMean(kallsyms.Nearest(o[0], names))}
	}
	every = e.every
	if len(o) > 1 {
		if every, err = strconv.ParseUint(o[1], 10, 32); err != nil || every == 0 {
			return site, 0, fmt.Errorf("%q is not a number of events", o[1])
		}
	}
	if e.place != "" {
		return attach.Site{Symbol: e.place}, every, nil
	}
	const second = 1_000_000_000
	return attach.Site{Kind: attach.Tick, Hz: int(min(100_000, max(1, second/every)))}, 1, nil
}

// missing is an error about what is not there, with what may have been meant.
func missing(why string, near []string) error {
	return &lang.Hinted{Why: why, Hint: kallsyms.DidYouMean(near), Missing: true}
}
