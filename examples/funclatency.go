//go:build tamago

package examples

import (
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
)

// funclatency: how long the calls of a function take, as a histogram of nanoseconds. It
// includes the time in which calls wait, and the cost of the probe.
//
//	insmod funclatency target=vfs.Read
//	rmmod funclatency
type funclatency struct {
	name     string
	target   string
	interval int
	active   int
	hist     tally.Hist
	probe    *probed
	show     *ctl.Show
}

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		New:  newFunclatency,
	})
}

func newFunclatency(name string) *module.Instance {
	l := &funclatency{name: name, active: 64, hist: tally.NewHist(cpu.Num())}
	return &module.Instance{
		Params: module.Params{
			"target":   module.String(&l.target, "function, or FILE:FUNCTION of a program").Valid(validTarget),
			"interval": module.Int(&l.interval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&l.active, "how many calls can be measured at the same time").Within(1, maxShown),
		},
		Init: l.init,
		Exit: l.exit,
	}
}

// latencyBegan is the private data of a call: when it was entered.
func latencyBegan(ri *kprobes.KretprobeInstance) *int64 {
	return (*int64)(unsafe.Pointer(&ri.Data[0])) // Safe because: DataSize is 8
}

func latencyEntered(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
	*latencyBegan(ri) = cpu.Nanotime()
	return 0
}

func (l *funclatency) returned(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
	l.hist.Add(cpu.ID(), uint64(cpu.Nanotime()-*latencyBegan(ri)))
	return 0
}

func (l *funclatency) init() (err error) {
	if l.target == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	if path, symbol, ok := inProgram(l.target); ok {
		l.probe, err = l.ofProgram(path, symbol)
	} else {
		p := &kprobes.Kretprobe{EntryHandler: latencyEntered, Handler: l.returned, DataSize: 8, MaxActive: l.active}
		p.KP.SymbolName = l.target
		l.probe, err = &probed{ledger: p.Ledger, remove: func() { kprobes.UnregisterKretprobe(p) }}, kprobes.RegisterKretprobe(p)
	}
	if err != nil {
		return err
	}
	l.show, err = ctl.NewShow(l.name, time.Duration(l.interval)*time.Second, l.write)
	if err != nil {
		l.probe.remove()
	}
	return err
}

// ofProgram sets two probes: calls of a program have no private data, so the calls
// that each thread has entered are kept here.
func (l *funclatency) ofProgram(path, symbol string) (*probed, error) {
	if programs == nil {
		return nil, errNoPrograms(path)
	}
	var mu sync.Mutex
	began := map[int][]int64{}
	entry, err := programs.entry(path, symbol, func(*amd64.Regs) {
		mu.Lock()
		defer mu.Unlock()
		t := programs.thread()
		began[t] = append(began[t], cpu.Nanotime())
	})
	if err != nil {
		return nil, err
	}
	leave, err := programs.ret(path, symbol, func(*amd64.Regs) {
		now, t := cpu.Nanotime(), programs.thread()
		mu.Lock()
		defer mu.Unlock()
		last := len(began[t]) - 1
		switch {
		case last < 0: // it was entered before the probe existed
			return
		case last == 0:
			defer delete(began, t)
		}
		l.hist.Add(cpu.ID(), uint64(now-began[t][last]))
		began[t] = began[t][:last]
	})
	if err != nil {
		entry.remove()
		return nil, err
	}
	return &probed{ledger: leave.ledger, remove: func() { leave.remove(); entry.remove() }}, nil
}

func (l *funclatency) exit() {
	l.probe.remove()
	l.show.End()
}

func (l *funclatency) write(w io.Writer) {
	calls := l.probe.ledger()
	fmt.Fprintf(w, "%s, ns: %s, %d missed, %d in progress\n", l.target, some(l.hist.Total(), "call"), calls.Missed(), calls.InFlight)
	l.hist.Draw(w)
}
