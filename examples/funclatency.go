//go:build tamago

package examples

import (
	"fmt"
	"io"
	"sync"

	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/tally"
)

// funclatency: how long the calls of a function take, as a histogram of nanoseconds. It
// includes the time in which calls wait, and the cost of the probe.
//
//	insmod funclatency target=vfs.Read
//	rmmod funclatency
type funclatency struct {
	ready
	active int
	hist   tally.Hist

	mu    sync.Mutex
	began map[uint64][]int64 // when a program's calls were entered, by goroutine of the thread; guarded by mu
}

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		New:  newFunclatency,
	})
}

func newFunclatency(name string) *module.Instance {
	l := &funclatency{ready: ready{name: name}, active: 64, hist: tally.NewHist(cpu.Num()), began: map[uint64][]int64{}}
	return l.instance("function, or FILE:FUNCTION of a program", siteOf, module.Params{
		"n": module.Int(&l.active, "how many calls can be measured at the same time").Within(1, maxShown),
	}, l.init)
}

// entered notes when a call was entered, in its own data.
func (l *funclatency) entered(h *attach.Hit) bool {
	h.Data[0] = uint64(h.Time())
	return true
}

func (l *funclatency) returned(h *attach.Hit) { l.hist.Add(h.CPU(), uint64(h.Time())-h.Data[0]) }

// inProgram is for both ends of a program's calls. Those of a Go function have no data, because its
// stack may move.
func (l *funclatency) inProgram(h *attach.Hit) {
	now, thread := h.Time(), h.Goid()
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.began[thread]
	last := len(calls) - 1
	switch {
	case !h.Returns:
		l.began[thread] = append(calls, now)
		return
	case last < 0: // it was entered before the probe existed
		return
	case last == 0:
		delete(l.began, thread)
	default:
		l.began[thread] = calls[:last]
	}
	l.hist.Add(h.CPU(), uint64(now-calls[last]))
}

func (l *funclatency) init(at attach.Site) error {
	ret := at
	ret.Return = true
	if at.Kind == attach.Program {
		return l.start(l.inProgram, &attach.Options{Block: true}, l.write, ret, at)
	}
	return l.start(l.returned, &attach.Options{Entry: l.entered, Data: 1, Active: l.active}, l.write, ret)
}

func (l *funclatency) write(w io.Writer) {
	calls := l.link.Ledger()
	fmt.Fprintf(w, "%s, ns: %s, %d missed, %d in progress\n", l.target, some(l.hist.Total(), "call"), calls.Missed(), calls.InFlight)
	l.hist.Draw(w)
}
