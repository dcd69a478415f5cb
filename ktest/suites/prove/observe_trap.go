//go:build tamago

package prove

// Trap context. A handler that notes the registers at a probed instruction and, at the
// next hit of the same goroutine, what the instruction has made of them.

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kprobes"
)

// An observer is a probe on a boundary and one execution of it.
type observer struct {
	k     kprobes.Kprobe // first: handlers are given its address
	b     *boundary
	index int32 // in observed, from 1

	refused bool // it could not be registered

	way string // what hits do about the instruction

	size uint64   // of the instruction; for a jump, of its region
	to   []uint64 // where it leads to
	free bool     // it leads anywhere
	sure bool     // and each of those places has a probe: the next hit must be at one of them
	mem  insn.Mem // what it reads or writes
	uses bool     // there is mem

	state         atomic.Uint32 // one of the following
	tries         uint32
	before, after snapshot
}

const (
	idle  = iota // nothing is observed
	waits        // for a hit
	begun        // before is there
	ended        // after, too
)

// A snapshot is what an instruction may change, but for vector registers and x87.
type snapshot struct {
	general   [16]uint64
	flags, ip uint64
	addr      uint64 // of the memory operand, 0: there is none, or it is not the kernel's
	mem       [2]uint64
	stack     [2]uint64 // at SP - 8, as it was before
}

// observed are the observers of the probes that are there. last is, for each CPU, whose
// execution is going on there. Set while there are no probes.
var (
	observed []*observer
	last     [trap.MaxCPUs]struct {
		index int32
		g     uintptr // the runtime's: an interrupt and the scheduler are no goroutines, but have one each
		_     [48]byte
	}
)

// observing is set while all probes are there.
var observing atomic.Bool

// tries is how often the end of an execution is missed before no other is begun.
const tries = 20

// watch is the pre-handler.
func watch(k *kprobes.Kprobe, r *amd64.Regs) int {
	if !observing.Load() {
		return 0
	}
	o := (*observer)(unsafe.Pointer(k)) // Safe because: k is its first field
	g := uintptr(trap.G(r))
	l := &last[trap.ID(r)]
	if l.index > 0 {
		was := observed[l.index-1]
		l.index = 0
		switch {
		case l.g == g && (was.sure || was.leads(uint64(k.Addr))):
			was.after.take(r, uint64(k.Addr), was.before.addr, was.before.general[insn.RSP])
			was.state.Store(ended)
		case was.tries < tries:
			was.tries++
			was.state.Store(waits)
		}
	}
	if o.state.CompareAndSwap(waits, begun) {
		o.begin(r)
		l.index, l.g = o.index, g
	}
	return 0
}

// leads reports whether what o executes can have led to addr.
func (o *observer) leads(addr uint64) bool {
	if o.free {
		return true
	}
	for _, to := range o.to {
		if to == addr {
			return true
		}
	}
	return false
}

// begin notes the state in front of the instruction.
func (o *observer) begin(r *amd64.Regs) {
	var addr uint64
	if o.uses {
		r.General(&o.before.general)
		addr = o.mem.Addr(&o.before.general, uint64(o.k.Addr)+uint64(o.b.In.Len))
		if !kernels(addr) {
			addr = 0
		}
	}
	o.before.take(r, uint64(o.k.Addr), addr, r.SP)
}

// take notes r, 16 bytes at addr, and those around sp.
func (s *snapshot) take(r *amd64.Regs, ip, addr, sp uint64) {
	r.General(&s.general)
	s.flags, s.ip, s.addr = r.Flags, ip, addr
	if addr != 0 {
		s.mem[0], s.mem[1] = load(addr), load(addr+8)
	}
	s.stack[0], s.stack[1] = load(sp-8), load(sp)
}

// load reads the kernel's memory. Safe because: addr is mapped for good, see kernels;
// and a stack is.
func load(addr uint64) uint64 { return **(**uint64)(unsafe.Pointer(&addr)) }
