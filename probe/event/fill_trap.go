package event

// Trap context. What makes the records. No heap, no locks: strings are only looked at while they are copied.

import (
	"sync/atomic"
	"unsafe"

	"sonde/probe/attach"
)

// A record is one CPU's, for the hit that it handles: what Linux has, and then the words.
type record struct {
	mem   [room]byte
	event *Event
	free  int // where the next text of a __data_loc can be
	none  bool
}

// records are by CPU.
var records [maxCPUs]struct {
	record
	_ [64 - (room+24)%64]byte
}

// hit is the handler at the place that the event stands for.
func (p *point) hit(h *attach.Hit) {
	cpu := cpuOf(h)
	r := &records[cpu].record
	e := p.event
	*(*uintptr)(unsafe.Pointer(&r.event)) = uintptr(unsafe.Pointer(e)) // no write barrier: the table has it
	r.free, r.none = textsAt(e), false
	_, tid, _ := who(goroutine(h))
	r.put(0, 2, uint64(e.ID))
	r.put(2, 2, 0)
	r.put(4, 4, uint64(tid))
	e.fill(p, r, h)
	if r.none {
		return
	}
	out := attach.Hit{Regs: h.Regs, Place: h.Place, IP: h.IP, Returns: h.Returns, Data: unsafe.Slice((*uint64)(unsafe.Pointer(r)), room/8)}
	out.Call(p.to)
}

// textsAt is where the texts of __data_loc begin.
func textsAt(e *Event) int {
	last := &e.Fields[len(e.Fields)-1]
	return last.Offset + last.Size
}

// put stores the low bytes of a number.
func (r *record) put(at, size int, v uint64) {
	for i := range size {
		r.mem[(at+i)&(room-1)] = byte(v)
		v >>= 8
	}
}

// number sets field i.
func (r *record) number(i int, v uint64) {
	f := &r.event.Fields[i]
	r.put(f.Offset, f.Size, v)
	if f.Size == 4 {
		v &= 1<<32 - 1
		if f.Signed {
			v = uint64(int32(v))
		}
	}
	r.put(f.Word, 8, v)
}

// text sets field i.
func (r *record) text(i int, s string) {
	f := &r.event.Fields[i]
	r.put(f.Word, 8, uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))))
	r.put(f.Word+8, 8, uint64(len(s)))
	at, size := f.Offset, f.Size
	if f.Loc {
		at, size = r.free, min(len(s)+1, texts-r.free)
		r.free += size
		r.put(f.Offset, 4, uint64(at)|uint64(size)<<16)
	}
	for n := range size {
		c := byte(0)
		if n < len(s) && n < size-1 {
			c = s[n]
		}
		r.mem[(at+n)&(room-1)] = c
	}
}

// Programs is what tracepoints ask about processes. Threads and processes are given by their addresses; the
// functions run in trap context.
type Programs struct {
	Identify func(thread unsafe.Pointer) (pid, tid int, comm string)
	Path     func(thread unsafe.Pointer) string // of the program
	Owner    func(process unsafe.Pointer) (pid int, comm string)
	// Sent says what a signal is that is put into a queue, and whether that is the process's.
	Sent func(process, queue, info unsafe.Pointer) (sig, errno, code int32, group bool)
	// Taken says what happens at a signal, and with which code it came to the thread.
	Taken func(thread unsafe.Pointer, sig int) (errno, code int32, handler, flags uint64)
	// Faulted says which address a thread's program has accessed without a page there, and from where.
	Faulted func(thread unsafe.Pointer) (addr, ip, code uint64)
}

var programs atomic.Pointer[Programs]

// SetPrograms makes processes known.
//
// Context: boot, goroutine.
func SetPrograms(p Programs) { programs.Store(&p) }

// who says for which process a goroutine runs. nil is a CPU that has run nothing yet.
func who(g unsafe.Pointer) (pid, tid int, comm string) {
	const kernelThread, low = 0x400000, 1<<30 - 1
	if g == nil {
		return 0, 0, "swapper"
	}
	if thread, known := threadOf(g), programs.Load(); thread != nil && known != nil {
		return known.Identify(thread)
	}
	if comm = nameOf(g); comm == "" {
		comm = "kernel"
	}
	return 0, kernelThread + int(goid(g)&low), comm
}

// pointer makes a pointer of a register. Safe because: the probed function takes or returns one there.
func pointer(word uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&word)) }

// priority is what all have.
const priority = 120

// fillSwitch: a goroutine leaves its CPU to the scheduler, or that gives the CPU to one. The scheduler is what Linux
// calls swapper, also where it is not idle.
func fillSwitch(_ *point, r *record, h *attach.Hit) {
	prev, next := goroutine(h), unsafe.Pointer(nil)
	if prev == nil {
		next = pointer(h.Regs.AX)
	}
	_, tid, comm := who(prev)
	r.text(0, comm)
	r.number(1, uint64(tid))
	r.number(2, priority)
	r.number(3, state(prev))
	r.number(7, goid(prev))
	_, tid, comm = who(next)
	r.text(4, comm)
	r.number(5, uint64(tid))
	r.number(6, priority)
	r.number(8, goid(next))
}

// state is what Linux calls TASK_RUNNING, TASK_INTERRUPTIBLE, EXIT_DEAD or, of the scheduler, TASK_REPORT_IDLE: that never
// waits for a CPU.
func state(g unsafe.Pointer) uint64 {
	const interruptible, dead, idle = 1, 16, 128
	switch {
	case g == nil:
		return idle
	case ended(g):
		return dead
	case runs(g):
		return 0
	}
	return interruptible
}

// fillRuntime: a goroutine leaves its CPU, which it got when that was noted.
func fillRuntime(p *point, r *record, h *attach.Hit) {
	l, prev := &p.last[cpuOf(h)], goroutine(h)
	if prev == nil {
		l.g, l.since = uintptr(h.Regs.AX), timeOf(h)
	}
	if r.none = prev == nil || l.g != uintptr(prev); r.none {
		return
	}
	now, since := timeOf(h), l.since
	l.g = 0
	_, tid, comm := who(prev)
	r.text(0, comm)
	r.number(1, uint64(tid))
	r.number(2, uint64(now-since))
	r.number(3, goid(prev))
}

func fillWakeup(_ *point, r *record, h *attach.Hit) {
	g := pointer(h.Regs.AX)
	_, tid, comm := who(g)
	r.text(0, comm)
	r.number(1, uint64(tid))
	r.number(2, priority)
	r.number(3, uint64(cpuOf(h)))
	r.number(4, goid(g))
}

// known returns what knows about processes. Events of them happen only where there are some.
func (r *record) known() *Programs {
	k := programs.Load()
	r.none = k == nil
	return k
}

func fillFork(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		_, tid, comm := k.Identify(pointer(h.Regs.AX))
		r.text(0, comm)
		r.number(1, uint64(tid))
		_, tid, comm = k.Identify(pointer(h.Regs.BX))
		r.text(2, comm)
		r.number(3, uint64(tid))
	}
}

func fillExec(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		_, tid, _ := k.Identify(pointer(h.Regs.AX))
		r.text(0, k.Path(pointer(h.Regs.AX)))
		r.number(1, uint64(tid))
		r.number(2, uint64(tid))
	}
}

func fillExit(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		_, tid, comm := k.Identify(pointer(h.Regs.AX))
		r.text(0, comm)
		r.number(1, uint64(tid))
		r.number(2, priority)
	}
}

func fillGenerate(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		sig, errno, code, group := k.Sent(pointer(h.Regs.AX), pointer(h.Regs.BX), pointer(h.Regs.CX))
		pid, comm := k.Owner(pointer(h.Regs.AX))
		r.number(0, uint64(sig))
		r.number(1, uint64(errno))
		r.number(2, uint64(code))
		r.text(3, comm)
		r.number(4, uint64(pid))
		r.number(5, 0)
		if group {
			r.number(5, 1)
		}
		r.number(6, 0)
	}
}

func fillDeliver(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		errno, code, handler, flags := k.Taken(pointer(h.Regs.AX), int(h.Regs.BX))
		r.number(0, h.Regs.BX)
		r.number(1, uint64(errno))
		r.number(2, uint64(code))
		r.number(3, handler)
		r.number(4, flags)
	}
}

func fillUserFault(_ *point, r *record, h *attach.Hit) {
	if k := r.known(); k != nil {
		addr, ip, code := k.Faulted(pointer(h.Regs.AX))
		r.number(0, addr)
		r.number(1, ip)
		r.number(2, code)
	}
}

// fillKernelFault: the kernel looks for the page before it accesses the program's memory, so that there is no exception.
func fillKernelFault(_ *point, r *record, h *attach.Hit) {
	const write, wants = 2, 2 // as the processor and as linux/space has them
	r.number(0, h.Regs.BX)
	r.number(1, h.IP)
	r.number(2, 0)
	if h.Regs.CX == wants {
		r.number(2, write)
	}
}

// fillIRQ: of a device, irq is the number of its line, of others that of the vector.
func fillIRQ(p *point, r *record, h *attach.Hit) {
	n, name := interrupt(p, h)
	r.number(0, uint64(n))
	if r.event.Fields[1].Loc {
		r.text(1, name)
	} else {
		r.number(1, 1) // it was handled
	}
}

func fillPage(_ *point, r *record, h *attach.Hit) {
	const shift = 12
	pfn := h.Regs.AX >> shift
	if h.Regs.BX != 0 { // an error
		pfn = ^uint64(0)
	}
	r.number(0, pfn)
	r.number(1, 0)
	r.number(2, 0)
	r.number(3, 0)
}

func fillCreate(_ *point, r *record, h *attach.Hit) {
	r.number(0, goid(pointer(h.Regs.AX)))
	r.number(1, goid(goroutine(h)))
}

func fillGoroutine(_ *point, r *record, h *attach.Hit) { r.number(0, goid(pointer(h.Regs.AX))) }

func fillPark(_ *point, r *record, h *attach.Hit) {
	g := pointer(h.Regs.AX)
	r.number(0, goid(g))
	r.text(1, waits(g))
}

func fillGC(_ *point, r *record, h *attach.Hit) {
	n := collections()
	if !h.Returns {
		n++ // which begins, or is under way
	}
	r.number(0, uint64(n))
}

func fillStack(_ *point, r *record, h *attach.Hit) {
	g := pointer(h.Regs.AX)
	lo, hi := stackOf(g)
	r.number(0, goid(g))
	r.number(1, uint64(hi-lo))
	r.number(2, h.Regs.BX)
}

func fillMalloc(_ *point, r *record, h *attach.Hit) {
	r.number(0, h.Regs.AX)
	r.number(1, h.Regs.BX)
}
