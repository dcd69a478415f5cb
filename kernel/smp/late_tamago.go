//go:build tamago

package smp

// CPUs that do not stop, because something keeps interrupts off there. An NMI finds
// out what.

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
)

// LateError says which CPUs did not stop.
type LateError struct {
	Limit time.Duration
	CPUs  []LateCPU
}

// LateCPU is a CPU that did not stop, and where it was instead.
type LateCPU struct {
	ID    int
	Known bool // Regs are known: the CPU took an NMI
	Regs  amd64.Regs
}

func (e *LateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "smp: stop machine: after %v", e.Limit)
	for _, c := range e.CPUs {
		fmt.Fprintf(&b, ", CPU %d %s", c.ID, c.where())
	}
	return b.String()
}

// Unwrap makes it ETIMEDOUT.
func (e *LateError) Unwrap() error { return syscall.ETIMEDOUT }

func (c *LateCPU) where() string {
	if !c.Known {
		return "does not take NMIs either"
	}
	irqs := "on"
	if c.Regs.Flags&amd64.RFLAGS_IF == 0 {
		irqs = "off"
	}
	return fmt.Sprintf("is at %s with interrupts %s", kallsyms.Symbolize(make([]byte, 0, 256), c.Regs.IP), irqs)
}

// The NMI that asks a CPU where it is.
const (
	asked = 1 + iota
	answered
)

var (
	question [trap.MaxCPUs]atomic.Uint32
	answer   [trap.MaxCPUs]amd64.Regs // while question is answered
)

// After the probes: they may have sent an NMI of their own at the same time.
func init() {
	notifier.Die[amd64.VEC_NMI].Register(&notifier.Block{Name: "smp", Priority: -1, Call: onNMI})
}

func onNMI(r *amd64.Regs, _ uint64) notifier.Action {
	id := trap.ID(r)
	if question[id].Load() != asked {
		return notifier.Next
	}
	answer[id] = *r
	question[id].Store(answered)
	return notifier.Stop
}

// askLate asks the late CPUs where they are. It asks again, because an NMI that
// comes together with another one may be lost in it, and for half a second, because a
// CPU of a virtual machine does not run while its host is busy with something else.
//
// Context: interrupt.
func askLate(late uint32) {
	const tries, each = 50, 10e6
	for i := range cpu.Num() {
		if late&(1<<i) == 0 {
			continue
		}
		question[i].Store(asked)
		for try := 0; try < tries && question[i].Load() != answered; try++ {
			cpu.SendNMI(i)
			for end := cpu.Nanotime() + each; cpu.Nanotime() < end && question[i].Load() != answered; {
				cpu.Pause()
			}
		}
	}
}

// lateError reports the late CPUs, to the log with all registers.
func lateError(late uint32, limit time.Duration) *LateError {
	e := &LateError{Limit: limit}
	for i := range cpu.Num() {
		if late&(1<<i) == 0 {
			continue
		}
		c := LateCPU{ID: i}
		if question[i].Load() == answered {
			c.Known, c.Regs = true, answer[i]
		}
		e.CPUs = append(e.CPUs, c)
		c.log()
	}
	return e
}

func (c *LateCPU) log() {
	r := &c.Regs
	printk.Err("smp: CPU %d does not stop: it %s", c.ID, c.where())
	if !c.Known {
		return
	}
	printk.Err("RIP: %016x RSP: %016x EFLAGS: %08x", r.IP, r.SP, r.Flags)
	printk.Err("RAX: %016x RBX: %016x RCX: %016x", r.AX, r.BX, r.CX)
	printk.Err("RDX: %016x RSI: %016x RDI: %016x", r.DX, r.SI, r.DI)
	printk.Err("RBP: %016x R08: %016x R09: %016x", r.BP, r.R8, r.R9)
	printk.Err("R10: %016x R11: %016x R12: %016x", r.R10, r.R11, r.R12)
	printk.Err("R13: %016x R14: %016x R15: %016x", r.R13, r.R14, r.R15)
}
