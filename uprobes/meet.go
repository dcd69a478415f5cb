package uprobes

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/uprobes/machine"
	"sonde/uprobes/place"
)

func init() {
	*engine = proc.Engine{
		Clone:     clone,
		Exec:      renew,
		Exit:      func(t *proc.Thread, _ proc.Status) { forget(t) },
		End:       end,
		Syscall:   systemCall,
		Exception: exception,
		Away:      away,
	}
}

// of returns what is known about t, or nil if nothing in its memory is probed.
//
// Context: t's goroutine.
func of(t *proc.Thread) *thread {
	if th, _ := t.Probes.(*thread); th != nil && th.text.mem == t.Memory() {
		return th
	}
	return meet(t)
}

// meet is of for a thread that is seen for the first time, or has called exec.
func meet(t *proc.Thread) *thread {
	x := textOf(t.Memory())
	if x == nil {
		return nil
	}
	return newThread(t, x)
}

// newThread makes what is known about t, whose memory has x.
func newThread(t *proc.Thread, x *text) *thread {
	th := &thread{t: t, text: x}
	th.own.thread, th.own.Program = uintptr(unsafe.Pointer(th)), x.program()
	t.Probes = th
	return th
}

// program accesses the program from goroutines, where the SSE registers are not the program's.
func (x *text) program() machine.Program {
	return machine.Program{
		SaveVectors: func(*amd64.Regs) {},
		LoadWord: func(addr uint64) (uint64, bool) {
			v, err := x.mem.LoadWord(addr)
			return v, err == nil
		},
		LoadPair: func(addr uint64) (uint64, uint64, bool) {
			first, second, err := x.mem.LoadPair(addr)
			return first, second, err == nil
		},
		SwapWord: func(addr, v uint64) (uint64, bool) {
			old, err := x.mem.SwapWord(addr, v)
			return old, err == nil
		},
	}
}

// tie lets hits of th be handled in trap context from now on, unless another engine sees them
// before. They find th by its CPU; forget ends that.
func (th *thread) tie() {
	tramp := th.text.trampoline.Load()
	if th.tied == tramp+1 || !th.t.Process().First(engine) {
		return
	}
	th.tied = tramp + 1
	th.calls.reserve()
	returns := uint64(0)
	if tramp != 0 {
		returns = tramp + uint64(len(place.Trampoline))
	}
	th.t.CPU().Probe(uintptr(unsafe.Pointer(th)), returns)
	th.looks()
}

// looks says in which table the entry of #BP is to look. Not while an instruction is to continue that is no new hit: any
// hit ends that. Not in a child of vfork: the probes are its parent's.
func (th *thread) looks() {
	at := unsafe.Pointer(&th.text.breaks)
	if th.tied == 0 || th.again.ip != 0 || th.t.Process() != th.text.process {
		at = nil
	}
	th.t.CPU().Breaks(at)
}
