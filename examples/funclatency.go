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
	"sonde/kprobes"
)

// funclatency: how long the calls of a function take, as a histogram of nanoseconds. It
// includes the time in which calls wait, and the cost of the probe.
//
//	insmod funclatency target=vfs.Read
//	rmmod funclatency
var (
	latencyTarget   string
	latencyInterval int
	latencyActive   = 64
	latencyHist     *tally.Hist
	latencyProbe    *probed
	latencyShow     *tally.Show
)

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		Params: module.Params{
			"target":   module.String(&latencyTarget, "function, or FILE:FUNCTION of a program").Valid(validTarget),
			"interval": module.Int(&latencyInterval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&latencyActive, "how many calls can be measured at the same time").Within(1, maxShown),
		},
		Init: latencyInit,
		Exit: latencyExit,
	})
}

// latencyBegan is the private data of a call: when it was entered.
func latencyBegan(ri *kprobes.KretprobeInstance) *int64 {
	return (*int64)(unsafe.Pointer(&ri.Data[0])) // Safe because: DataSize is 8
}

func latencyEntered(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
	*latencyBegan(ri) = cpu.Nanotime()
	return 0
}

func latencyReturned(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
	latencyHist.Add(uint64(cpu.Nanotime() - *latencyBegan(ri)))
	return 0
}

func latencyInit() (err error) {
	if latencyTarget == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	latencyHist = new(tally.Hist)
	if _, _, ok := inProgram(latencyTarget); ok {
		latencyProbe, err = latencyOfProgram()
	} else {
		p := &kprobes.Kretprobe{EntryHandler: latencyEntered, Handler: latencyReturned, DataSize: 8, MaxActive: latencyActive}
		p.KP.SymbolName = latencyTarget
		latencyProbe, err = &probed{p.Ledger, func() { kprobes.UnregisterKretprobe(p) }}, kprobes.RegisterKretprobe(p)
	}
	if err != nil {
		return err
	}
	latencyShow, err = tally.Begin("funclatency", time.Duration(latencyInterval)*time.Second, latencyWrite)
	if err != nil {
		latencyProbe.remove()
	}
	return err
}

// latencyOfProgram sets two probes: calls of a program have no private data, so the calls
// that each thread has entered are kept here.
func latencyOfProgram() (*probed, error) {
	var mu sync.Mutex
	began := map[int][]int64{}
	entry, err := onEntry(latencyTarget, nil, func(*amd64.Regs) {
		mu.Lock()
		defer mu.Unlock()
		t := programs.thread()
		began[t] = append(began[t], cpu.Nanotime())
	})
	if err != nil {
		return nil, err
	}
	leave, err := onReturn(latencyTarget, 0, nil, func(*amd64.Regs) {
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
		latencyHist.Add(uint64(now - began[t][last]))
		began[t] = began[t][:last]
	})
	if err != nil {
		entry.remove()
		return nil, err
	}
	return &probed{leave.ledger, func() { leave.remove(); entry.remove() }}, nil
}

func latencyExit() {
	latencyProbe.remove()
	latencyShow.End()
}

func latencyWrite(w io.Writer) {
	l := latencyProbe.ledger()
	fmt.Fprintf(w, "%s, ns: %s, %d missed, %d in progress\n", latencyTarget, tally.Some(latencyHist.Total(), "call"), l.Missed(), l.InFlight)
	latencyHist.Draw(w)
}
