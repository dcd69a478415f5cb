package draw

import (
	"encoding/json"
	"fmt"
	"math"
)

// ReadChrome reads what bt --format chrome prints: a lane for each thread. A call that has not ended lasts until the
// last event.
//
// Errors: those of encoding/json.
func ReadChrome(text []byte) ([]Span, error) {
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			Ts       float64 // µs
			PID, TID int
			Args     struct{ Name, Says string }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("this is not what bt --format chrome prints: %w", err)
	}
	type thread struct{ pid, tid int }
	var (
		spans     []Span
		processes = map[int]string{}
		threads   = map[thread]string{}
		of        []thread             // by spans
		open      = map[thread][]int{} // calls that have not ended
		last      int64
	)
	for _, e := range file.TraceEvents {
		who, at := thread{e.PID, e.TID}, int64(math.Round(e.Ts*1000))
		last = max(last, at)
		switch {
		case e.Ph == "M" && e.Name == "process_name":
			processes[e.PID] = e.Args.Name
		case e.Ph == "M":
			threads[who] = e.Args.Name
		case e.Ph == "E" && len(open[who]) > 0:
			calls := open[who]
			s := &spans[calls[len(calls)-1]]
			s.Until = at
			if e.Args.Says != "" {
				s.Says += " → " + e.Args.Says
			}
			open[who] = calls[:len(calls)-1]
		case e.Ph == "B", e.Ph == "E", e.Ph == "i":
			if e.Ph == "B" {
				open[who] = append(open[who], len(spans))
			}
			spans, of = append(spans, Span{Name: e.Name, Says: e.Args.Says, From: at, Until: at}), append(of, who)
		}
	}
	for _, calls := range open {
		for _, i := range calls {
			spans[i].Until = last
			spans[i].Says += " (has not ended)"
		}
	}
	for i, who := range of {
		spans[i].Lane = fmt.Sprintf("%s, %s", processes[who.pid], threads[who])
	}
	return spans, nil
}
