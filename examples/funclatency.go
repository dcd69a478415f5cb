//go:build tamago

package examples

import (
	"fmt"
	"io"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// funclatency: how long the calls of a function take, as a histogram of nanoseconds. The
// time in calls that wait counts, and so does what the probe costs.
//
//	insmod funclatency target=vfs.Read
//	rmmod funclatency
var (
	latencyTarget   string
	latencyInterval int
	latencyActive   = 64
	latencyHist     *tally.Hist
	latencyProbe    *kprobes.Kretprobe
	latencyShow     *tally.Show
)

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		Params: module.Params{
			"target":   module.String(&latencyTarget, "function"),
			"interval": module.Int(&latencyInterval, "seconds between reports in the log; 0: only the one of rmmod"),
			"n":        module.Int(&latencyActive, "calls measured at the same time"),
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
		return fmt.Errorf("give the function, as in target=vfs.Read: %w", syscall.EINVAL)
	}
	latencyHist = new(tally.Hist)
	latencyProbe = &kprobes.Kretprobe{EntryHandler: latencyEntered, Handler: latencyReturned, DataSize: 8, MaxActive: latencyActive}
	latencyProbe.KP.SymbolName = latencyTarget
	if err := kprobes.RegisterKretprobe(latencyProbe); err != nil {
		return err
	}
	latencyShow, err = tally.Begin("funclatency", time.Duration(latencyInterval)*time.Second, latencyWrite)
	if err != nil {
		kprobes.UnregisterKretprobe(latencyProbe)
	}
	return err
}

func latencyExit() {
	kprobes.UnregisterKretprobe(latencyProbe)
	latencyShow.End()
}

func latencyWrite(w io.Writer) {
	l := latencyProbe.Ledger()
	fmt.Fprintf(w, "%s, ns: %s, %d missed, %d going on\n", latencyTarget, tally.Some(latencyHist.Total(), "call"), l.Missed(), l.InFlight)
	latencyHist.Draw(w)
}
