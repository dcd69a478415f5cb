//go:build tamago

package examples

import (
	"fmt"
	"io"

	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/tally"
	"sonde/probe/attach"
)

// funclatency: how long the calls of a function take, as a histogram of nanoseconds. It
// includes the time in which calls wait, and the cost of the probe.
//
//	insmod funclatency target=vfs.Read
//	cat /sys/kernel/debug/funclatency
//	rmmod funclatency
//	insmod funclatency target=/bin/myprog:myfunc
type funclatency struct {
	ready
	active int
	hist   tally.Hist
}

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		New:  newFunclatency,
	})
}

func newFunclatency(name string) *module.Instance {
	l := &funclatency{ready: ready{name: name}, active: 64, hist: tally.NewHist(cpu.Num())}
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

func (l *funclatency) init(at attach.Site) error {
	at.Return = true
	return l.start(l.returned, &attach.Options{Entry: l.entered, Data: 1, Active: l.active}, l.write, at)
}

func (l *funclatency) write(w io.Writer) {
	calls := l.link.Ledger()
	fmt.Fprintf(w, "%s, ns: %s, %d missed, %d in progress\n", l.target, some(l.hist.Total(), "call"), calls.Missed(), calls.InFlight)
	l.hist.Draw(w)
}
