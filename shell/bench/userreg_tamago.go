//go:build tamago && !nolinux

package bench

import (
	"fmt"
	"io"
	"slices"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/linux/proc"
	"sonde/uprobes"
)

// userRegistration prints how long it takes to register a probe in a running process, and then
// until its first hit.
func userRegistration(w io.Writer, table *proc.Table) error {
	l, err := startLoop(table, nop, 1<<32-1, nil)
	if err != nil {
		return err
	}
	<-l.at
	var hits figure
	in, err := measure(func(int) (int64, error) {
		registered, hit, err := firstHit(l.PID)
		hits = append(hits, hit)
		return registered, err
	})
	l.Kill(abi.SIGKILL)
	if ended := l.end(); err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	slices.Sort(hits)
	fmt.Fprintf(w, "register_uprobe\t%s\nregister_to_hit\t%s\n", in, hits)
	return nil
}

// firstHit returns the time in nanoseconds until RegisterUprobe returned, and until the first call
// of the handler.
func firstHit(pid int) (registered, hit int64, err error) {
	first := make(chan int64, 1)
	u := &uprobes.Uprobe{Pid: pid, Vaddr: targetAt, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		select {
		case first <- cpu.Nanotime():
		default:
		}
	}}
	from := cpu.Nanotime()
	if err := uprobes.RegisterUprobe(u); err != nil {
		return 0, 0, err
	}
	registered = cpu.Nanotime() - from
	defer uprobes.UnregisterUprobe(u)
	select {
	case at := <-first:
		return registered, at - from, nil
	case <-time.After(10 * time.Second):
		return 0, 0, fmt.Errorf("no hit within 10 s")
	}
}
