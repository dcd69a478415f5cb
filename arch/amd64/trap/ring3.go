package trap

import "sync/atomic"

// Ring3 is what package user keeps per CPU, for the way to programs and back.
type Ring3 struct {
	// Context is where the program's registers go when this CPU leaves ring 3, a
	// *user.Context. It is not 0 from before GS or FS may be the program's until both
	// are the kernel's again.
	Context uintptr
	// Entered counts the times that Context was set.
	Entered uint64
	// CR3 and Generation tell which tables the TLB holds translations of, and how
	// recent ones.
	CR3, Generation uint64

	// X87 is the number of the Context that was here last: what it left in the registers of
	// the x87 is there still.
	X87 uint64

	SP     uintptr // a program's, while its system call has no register free
	Wanted uintptr // *int32; what it points to is not 0 while a thread waits for a CPU

	// StepIDT is the operand of the LIDT with which a program is entered that steps, 0 while
	// nothing is watched; UsualIDT that of the one afterwards.
	StepIDT, UsualIDT uintptr

	// Addresses, written once at boot:
	Trap   uintptr // the code that traps from ring 3 go to
	Kernel uintptr // the code that traps from ring 0 go to
	Stack  uintptr // the top of the entry stack
}

// Program returns what runs in ring 3 on CPU id, or is on its way there or back: a
// *user.Context, 0 for nothing.
//
// Context: any. It is nosplit because the thread shim asks, below the scheduler.
//
//go:nosplit
func Program(id int) uintptr {
	if c := cpus[id]; c != nil {
		return atomic.LoadUintptr(&c.Ring3.Context)
	}
	return 0
}

// Has reports whether a program may run in ring 3 there with the tables at root.
//
// Context: any.
func (r *Ring3) Has(root uint64) bool {
	return atomic.LoadUintptr(&r.Context) != 0 && atomic.LoadUint64(&r.CR3) == root
}

// Loaded reports whether CR3 has the tables at root there, or is about to.
//
// Context: any.
func (r *Ring3) Loaded(root uint64) bool { return atomic.LoadUint64(&r.CR3) == root }

// EnteredNow is Entered of another CPU.
//
// Context: any.
func (r *Ring3) EnteredNow() uint64 { return atomic.LoadUint64(&r.Entered) }

// Ring3Of returns what package user keeps of CPU id.
func Ring3Of(id int) *Ring3 { return &cpus[id].Ring3 }
