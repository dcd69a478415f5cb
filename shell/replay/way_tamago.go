//go:build tamago

package replay

import (
	"syscall"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kernel/tape"
	"sonde/kprobes"
	"sonde/probe/attach"
)

// RecordWay registers a probe at a place without one, waits for its jump, unregisters it, and returns what
// has happened to the machine meanwhile.
//
// Errors: those of places.Find and of kprobes.RegisterKprobe; EINVAL the place is not one instruction;
// EBUSY a probe is there, or another way is being recorded; ENOTSUP the probe becomes no jump.
func RecordWay(at attach.Site) (*Way, error) {
	spot, err := single(at)
	if err != nil {
		return nil, err
	}
	s := &Shot{spot: spot}
	d, err := s.describe()
	switch {
	case err != nil:
		return nil, err
	case len(d.Probes) > 0:
		return nil, refusal.New(syscall.EBUSY, "%s has a probe already, which is on its way or has gone it", spot)
	}
	if err := tape.Start(); err != nil {
		return nil, err
	}
	jumped, err := s.walk()
	w := &Way{CPUs: cpu.Num()}
	w.Events, w.Lost = tape.Stop()
	switch {
	case err != nil:
		return nil, err
	case !jumped:
		return nil, refusal.New(syscall.ENOTSUP, "there is no jump%s; explain %s says why", colon(d.NoJump), spot)
	}
	w.Addr, w.Symbol, w.Line, w.Nanos = uint64(d.Addr), symbol, line, nanos
	return w, nil
}

// walk registers a probe until it has become a jump, if it does.
func (s *Shot) walk() (jumped bool, err error) {
	k := s.kprobe()
	k.PreHandler = emptyPre
	if err := kprobes.RegisterKprobe(&k); err != nil {
		return false, err
	}
	defer kprobes.UnregisterKprobe(&k)
	const looks = 100 // the optimizer's own thread comes after a millisecond
	for range looks {
		if kprobes.Optimized(k.Addr) {
			return true, nil
		}
		time.Sleep(time.Millisecond)
	}
	kprobes.AwaitJumps()
	return kprobes.Optimized(k.Addr), nil
}

// nanos is Take.Nanos of the kernel.
func nanos(tsc uint64) int64 { return int64(cpu.Duration(tsc)) }
