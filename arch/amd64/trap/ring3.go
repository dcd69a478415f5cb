package trap

import "sync/atomic"

// Ring3 is the data of package user for each CPU, for entering and leaving programs.
type Ring3 struct {
	// Context is where the program's registers go when this CPU leaves ring 3, a *user.Context. It
	// is not 0 from before GS or FS may be the program's until both are the kernel's again.
	Context uintptr
	// Entered counts the times that Context was set.
	Entered uint64
	// CR3 and Generation say of which tables the TLB holds translations, and how recent they are.
	CR3, Generation uint64

	// X87 is the number of the Context that ran here last: the x87 still has its registers, and AVX
	// their upper halves.
	X87 uint64

	// TSD is CR4's bit as it is here now: programs may not read the TSC.
	TSD uint64

	// Hit is not 0 while a hit of the program is handled on this CPU's trap stack: Context is set, and
	// FS is the kernel's all the same.
	Hit uint32

	SP     uintptr // a program's, at the start of its system call, when no register is free
	Wanted uintptr // *int32; what it points to is not 0 while a thread waits for a CPU

	// StepIDT is the operand of the LIDT before entering a program, 0 while nothing is watched;
	// UsualIDT is that of the one afterwards.
	StepIDT, UsualIDT uintptr

	// Addresses, written once at boot:
	Trap   uintptr // the code that traps from ring 3 go to
	Break  uintptr // the same of breakpoints: see entryBP
	Kernel uintptr // the code that traps from ring 0 go to
	Stack  uintptr // the top of the entry stack
	// Where on the trap stack hits begin, and the g that runs on it, a *runtime.g.
	HitStack, HitG uintptr
}

// hitSpill is the room above a call in which the function may store its arguments: four, and a
// multiple of 16.
const hitSpill = 32

// Program returns the program that runs in ring 3 on CPU id, or is entering or leaving it: a
// *user.Context, 0 for none.
//
// Context: any. It is nosplit because the thread shim calls it, below the scheduler.
//
//go:nosplit
func Program(id int) uintptr {
	if c := cpus[id]; c != nil {
		return atomic.LoadUintptr(&c.Ring3.Context)
	}
	return 0
}

// InHit reports whether CPU id handles a hit of the program that Program returns.
//
// Context: any.
func InHit(id int) bool { return atomic.LoadUint32(&cpus[id].Ring3.Hit) != 0 }

// Has reports whether a program may be running in ring 3 on that CPU with the tables at root.
//
// Context: any.
func (r *Ring3) Has(root uint64) bool {
	return atomic.LoadUintptr(&r.Context) != 0 && atomic.LoadUint64(&r.CR3) == root
}

// Loaded reports whether CR3 of that CPU has the tables at root, or is about to.
//
// Context: any.
func (r *Ring3) Loaded(root uint64) bool { return atomic.LoadUint64(&r.CR3) == root }

// EnteredNow is Entered of another CPU.
//
// Context: any.
func (r *Ring3) EnteredNow() uint64 { return atomic.LoadUint64(&r.Entered) }

// Ring3Of returns the data of CPU id.
func Ring3Of(id int) *Ring3 { return &cpus[id].Ring3 }
