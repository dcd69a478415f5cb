package glass

import "sonde/arch/amd64"

// Stage is which transition a frame is of.
type Stage uint8

// The stages. Note[0] and Note[1] are a and b in the comments.
const (
	None       Stage = iota
	Trapped          // the CPU has trapped on the INT3; a says how it is handled
	Jumped           // the detour has called, without a trap; IP means nothing yet
	Grows            // the stack check fails: it is not a call yet
	Enters           // a handler in role a is about to be called
	Off              // a probe is disabled: its handler is not called
	Returned         // a handler in role b has returned a
	TookOver         // a handler has returned non-zero: execution continues where it has set IP
	Replaced         // the return address b, at stack address a, has been replaced
	Unnoted          // the call is not noted: no instance is free, or the entry handler declined it
	Copied           // a jprobe's handler is about to be called, with b words copied from stack address a
	Ended            // a jprobe's handler has ended; a is 1 if by JprobeReturn
	ToSlot           // IP leads to the copy in the slot, which jumps back
	ToStep           // IP leads to the copy in the slot, to be single-stepped
	ToDetour         // IP leads to the copy in the detour, which jumps back
	Branched         // IP leads to the target of a jump
	Emulates         // the instruction is about to be emulated; it reads at a, pushes b (0: does not)
	Emulated         // that is done
	Decided          // the stack check has been decided: SP was a, the limit b
	Stepped          // #DB after the copy
	PutBack          // IP and flags are those after the original again
	Faulted          // the instruction has raised exception a
	Trampoline       // the function has returned to the trampoline
	GoesBack         // the trampoline is about to return to IP
	Nested           // a hit inside a handler, at address a: its handlers are not called
	Abandoned        // a handler has been abandoned
	Watched          // #DB of debug register b; a: what DR6 says
	Accessed         // what is watched was a, and is b; Probe is the address after the access
	GoesOn           // the CPU continues at IP; a is not 0 if the RF flag keeps the instruction from being hit again
	Awaited          // a call is noted whose return address b, at stack address a, stays: its exits have probes
	Exited           // the function has returned, by an instruction that has a probe
	Calls            // the system call number a is about to be made in place of the program's instruction
	Called           // that is done
	Died             // the thread has ended in the hit
	Leaves           // a witness after the probed code has seen it continue
)

// Roles of handlers.
const (
	Pre    = iota // before the instruction
	Post          // after it
	Entry         // of a return probe, when the function is entered
	Return        // when it has returned
	Watch         // of a watchpoint
)

// How a hit is handled.
const (
	InKernel    = iota // it is of the kernel
	InTrap             // of a program: where the trap arrives
	InGoroutine        // of a program: in the goroutine of its thread
)

// Sizes of what a frame shows.
const (
	NumRegs    = 18 // the general registers by their numbers, IP, flags
	StackWords = 8
	CodeBytes  = 16
)

// Where IP and the flags are among the registers of a frame.
const (
	IP    = 16
	Flags = 17
)

// A Frame is one transition of a hit.
type Frame struct {
	Time      uint64 // TSC
	Goroutine uint64
	PID, TID  int32 // of the program's thread; 0: the kernel
	CPU       int32
	Stage     Stage
	Has       Parts
	Words     uint8   // of Stack
	Probe     uintptr // address of the place of the probe that the stage is about; 0: none
	Handler   uintptr // its code; 0: none
	Regs      [NumRegs]uint64
	Stack     [StackWords]uint64 // at SP
	Text      [CodeBytes]byte    // at the probed place, as it was then
	Code      [CodeBytes]byte    // at IP
	Note      [2]uint64
	Why       [64]byte // Abandoned: what the handler did; it ends with a zero
}

// Parts says which parts of a frame there are.
type Parts uint8

// The parts.
const (
	HasRegs Parts = 1 << iota
	HasText
	HasCode
)

// SetRegs stores the registers.
//
// Context: trap.
func (f *Frame) SetRegs(r *amd64.Regs) {
	for i := range 16 {
		f.Regs[i] = *r.Register(int8(i))
	}
	f.Regs[IP], f.Regs[Flags] = r.IP, r.Flags
	f.Has |= HasRegs
}
