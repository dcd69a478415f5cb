//go:build tamago

package proc

import (
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/linux/space"
)

// ring3 is the machine's CPU for a thread. It keeps the space alive whose tables
// its context has.
type ring3 struct {
	c  *user.Context
	in *space.Space
}

// NewCPU is Config.NewCPU on the machine.
func NewCPU() CPU { return &ring3{c: user.New()} }

func (r *ring3) Regs() *amd64.Regs       { return &r.c.Regs }
func (r *ring3) Bases() (fs, gs *uint64) { return &r.c.FSBase, &r.c.GSBase }
func (r *ring3) DenyTSC(deny bool)       { r.c.DenyTSC(deny) }
func (r *ring3) TSCDenied() bool         { return r.c.TSCDenied() }
func (r *ring3) FP() []byte              { return r.c.FP() }
func (r *ring3) Address() uint64         { return r.c.CR2 }
func (r *ring3) Debug() uint64           { return r.c.DR6 }
func (r *ring3) Kick()                   { r.c.Kick() }

func (r *ring3) FPSize() int              { return user.FPSize() }
func (r *ring3) SetFP(image []byte) error { return r.c.SetFP(image) }
func (r *ring3) ResetFP()                 { r.c.ResetFP() }

func (r *ring3) Run(in *space.Space) Event {
	if r.in != in {
		r.c.Use(in.Root(), in.Generation())
		r.in = in
	}
	ev := r.c.Run()
	if ev == user.NotEntered {
		r.c.Kicked() // whoever kicked has said before what is wanted
	}
	return Event(ev)
}

func (r *ring3) Clone() CPU { return &ring3{c: r.c.Clone(), in: r.in} }

// Reset implements CPU. A kick that it forgets is no loss: what it is about was said
// before, and the thread looks for that before it runs.
func (r *ring3) Reset(ip, sp uint64) {
	r.c.Reset()
	r.c.Regs.IP, r.c.Regs.SP = ip, sp
	r.in = nil
}

func (r *ring3) Used() (inProgram, inKernel time.Duration) {
	program, kernel := r.c.Ticks()
	return cpu.Duration(program), cpu.Duration(kernel)
}

func (r *ring3) Bind(cpus uint32)                     { r.c.Bind(cpus) }
func (r *ring3) Probe(thread uintptr, returns uint64) { r.c.Probe(thread, returns) }
func (r *ring3) Breaks(at unsafe.Pointer)             { r.c.Break((*atomic.Pointer[user.Breaks])(at)) }
func (r *ring3) Here() int                            { return r.c.Here() }
