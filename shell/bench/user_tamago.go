//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/proc"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

// userHits is counted by the handlers, in the goroutine of the program's only thread.
var userHits uint64

// A userRow is one measurement of user probes: on the first instruction of a function
// that a program calls, with a handler that counts.
type userRow struct {
	name   string
	target []byte
	way    place.Way // how the instruction is to be done
	ret    bool      // a return probe
}

// imul has no emulation; push and pop have.
var (
	nop  = []byte{0x90, 0xC3}                   // nop; ret
	push = []byte{0x50, 0x58, 0xC3}             // push rax; pop rax; ret
	imul = []byte{0x48, 0x0F, 0xAF, 0xC0, 0xC3} // imul rax, rax; ret
)

var userRows = []userRow{
	{name: "u", target: nop, way: place.Nothing},
	{name: "u_emul", target: push, way: place.Emulate},
	{name: "u_boost", target: imul, way: place.Boost},
	{name: "u_step", target: imul, way: place.Step},
	{name: "ur", target: nop, way: place.Nothing, ret: true},
}

// runUser measures the rows of user probes that are wanted.
func runUser(out io.Writer, table *proc.Table, wanted func(name string) bool) error {
	for _, r := range userRows {
		if !wanted(r.name) {
			continue
		}
		if err := r.run(out, table); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if wanted("ureg") {
		return userRegistration(out, table)
	}
	return nil
}

func (r *userRow) run(w io.Writer, table *proc.Table) error {
	plan, err := place.Decide(r.target, targetAt)
	if err != nil {
		return err
	}
	if plan.Way != r.way {
		uprobes.Force(r.way)
		defer uprobes.Force(place.Refused)
	}
	base, err := measure(func(int) (int64, error) { return r.perCall(table, nil) })
	if err != nil {
		return err
	}
	ps, err := measure(func(int) (int64, error) {
		before := userHits
		ps, err := r.perCall(table, r.plant)
		if got := userHits - before; err == nil && got != calls {
			err = fmt.Errorf("%d hits, not %d", got, calls)
		}
		return ps, err
	})
	if err == nil {
		fmt.Fprintf(w, "%s\t%s\n", r.name, ps.net(base.median()))
	}
	return err
}

// perCall returns picoseconds per call, in a program that plant, if not nil, has probed.
func (r *userRow) perCall(table *proc.Table, plant func(pid int) error) (int64, error) {
	var failed error
	l, err := startLoop(table, r.target, calls, func(p *proc.Process) {
		if plant != nil {
			failed = plant(p.PID)
		}
	})
	if err != nil {
		return 0, err
	}
	if err := l.end(); err != nil {
		return 0, err
	}
	from, to := <-l.at, <-l.at
	return (to - from) * 1000 / calls, failed
}

// plant sets the probe. The end of the process unregisters it.
func (r *userRow) plant(pid int) error {
	if r.ret {
		rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { userHits++ }}
		rp.U.Pid, rp.U.Vaddr = pid, targetAt
		return uprobes.RegisterUretprobe(rp)
	}
	return uprobes.RegisterUprobe(&uprobes.Uprobe{Pid: pid, Vaddr: targetAt, Handler: func(*uprobes.Uprobe, *amd64.Regs) { userHits++ }})
}

// userRegistration prints how long it takes to register a probe in a process that
// runs, and from then to its first hit.
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

// firstHit returns in nanoseconds when RegisterUprobe has returned, and when the handler
// was called first.
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
