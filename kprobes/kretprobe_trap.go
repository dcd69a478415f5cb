//go:build tamago

package kprobes

// Trap context. When a call is entered, its return address is replaced by the trampoline's.
// It returns to the trampoline, and from there to its caller.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
	"sonde/probe/ledger"
)

// calls returns the head of g's list of calls, and the top of its stack.
func calls(g unsafe.Pointer) (head *uintptr, hi uintptr) {
	_, hi = goruntime.Stack(g)
	return goruntime.Calls(g), hi
}

// trampolinePC is the address that replaces a return address.
var trampolinePC = codeAt.trampoline

// asInstance turns an address from a goroutine's list back. Safe because: the
// pools of probes with calls in flight are kept (lingering).
func asInstance(p uintptr) *KretprobeInstance { return *(**KretprobeInstance)(unsafe.Pointer(&p)) }

// note is the pre-handler of the entry: it notes the call. r.SP points at the return
// address. Detours handle the usual case themselves (detour_amd64.s). It is nosplit as get is.
//
//go:nosplit
func (rp *Kretprobe) note(st *state, id int, r *amd64.Regs) {
	g := trap.G(r)
	head, hi := calls(g)
	off := hi - uintptr(r.SP)
	lr := uintptr(load(r.SP))
	if *head != 0 { // in most calls it is 0
		if asInstance(*head).off > off {
			leaveAbove(head, off, id)
		}
		if lr == trampolinePC {
			// Another return probe of this function has replaced the address already.
			lr = asInstance(*head).RetAddr
		} else if *head != 0 && asInstance(*head).off == off {
			leaveCall(head, id) // the slot's last user was left
		}
	}
	in := rp.pool.get(id)
	if in == nil {
		rp.KP.ledger.Count(id, ledger.NoInst)
		return
	}
	in.RetAddr, in.off = lr, off
	in.Task = Task(goruntime.Goid(g))
	if rp.EntryHandler != nil && rp.declines(st, in, r) {
		rp.KP.ledger.Count(id, ledger.Declined)
		rp.pool.put(in, id)
		return
	}
	in.next = *head
	*head = uintptr(unsafe.Pointer(in))
	store(r.SP, uint64(trampolinePC))
}

// onNote is (*Kretprobe).note for rp after a kprobe, for the cases that the detour does
// not handle. It calls no handler.
func onNote(r *amd64.Regs, rp *Kretprobe) {
	id := trap.ID(r)
	rp.KP.ledger.Count(id, ledger.Entered)
	rp.note(states[id], id, r)
}

// declines calls the entry handler and reports whether it declines the call. It notes the
// instance first; otherwise the pool would lose it when the handler is abandoned.
func (rp *Kretprobe) declines(st *state, in *KretprobeInstance, r *amd64.Regs) bool {
	st.begin(&rp.KP)
	st.instance = uintptr(unsafe.Pointer(in))
	was := spotOf(r)
	ret := rp.EntryHandler(in, r)
	st.instance = 0
	st.end()
	rp.KP.moved(int(st.id), roleEntry, r, was, true)
	return ret != 0
}

// giveBack returns an instance to its pool.
func giveBack(in *KretprobeInstance, id int) { in.RP.pool.put(in, id) }

// leaveCall takes the innermost call off a list: it has been left.
func leaveCall(head *uintptr, id int) {
	in := asInstance(*head)
	*head = in.next
	in.RP.KP.ledger.CountNested(id, ledger.Abandoned)
	giveBack(in, id)
}

// leaveAbove takes off the calls whose frames are below the frame at off: a panic or a switch of
// stacks has left them.
func leaveAbove(head *uintptr, off uintptr, id int) {
	for *head != 0 && asInstance(*head).off > off {
		leaveCall(head, id)
	}
}

// onLeft is called by the runtime when calls have been left: a goroutine ends, or recovers.
//
// Context: any.
func onLeft(head uintptr) {
	flags := cpu.IRQOff()
	id := cpu.ID()
	for head != 0 {
		leaveCall(&head, id)
	}
	cpu.IRQRestore(flags)
}

// onReturn handles the return of a probed function to the trampoline, in the cases that the
// trampoline does not handle itself; r looks as in a trap, and r.SP is after the slot. It
// calls the return handlers of the call, innermost first. Interrupts are as the function
// has them (kprobes.txt §5).
func onReturn(r *amd64.Regs) {
	id := trap.ID(r)
	st := states[id]
	if st.phase != idle {
		missReturn(id, r)
		return
	}
	st.phase = returning
	st.soft++
	st.Frame = uintptr(unsafe.Pointer(r))
	head, hi := calls(trap.G(r))
	off := hi - uintptr(r.SP) + 8
	if *head == 0 || asInstance(*head).off != off {
		search(head, off, id, r)
	}
	in := asInstance(*head)
	r.IP = uint64(in.RetAddr)
	rp := in.RP
	k := &rp.KP
	switch {
	case k.Flags&flagsReturn != flagRegistered: // disabled or not: kprobes.txt §1.3.2
		k.ledger.Count(id, ledger.Disarmed)
	case rp.careful:
		rp.callCareful(st, in, r)
		k.ledger.Count(id, ledger.Handled)
	default:
		if rp.Handler != nil {
			st.begin(k)
			rp.Handler(in, r)
			st.end()
		}
		k.ledger.Count(id, ledger.Handled)
	}
	st.afterReturn(id, r)
}

// code returns where the code of a handler begins, 0 if there is none.
// Safe because: a func in an interface is one word, nil or the address of that address.
func (k *Kprobe) code(role role) uintptr {
	f := k.called(role)
	if p := *(**uintptr)(unsafe.Add(unsafe.Pointer(&f), unsafe.Sizeof(uintptr(0)))); p != nil {
		return *p
	}
	return 0
}

// callCareful calls rp's return handler where that may change X0-X14, IP or SP.
func (rp *Kretprobe) callCareful(st *state, in *KretprobeInstance, r *amd64.Regs) {
	trap.SaveXMM(r)
	was := spotOf(r)
	st.begin(&rp.KP)
	rp.Handler(in, r)
	st.end()
	rp.KP.moved(int(st.id), roleReturn, r, was, true)
}

// afterReturn frees the instance whose handler has completed or was abandoned, and
// continues with the next instance of the same call.
func (st *state) afterReturn(id int, r *amd64.Regs) {
	head, hi := calls(trap.G(r))
	in := asInstance(*head)
	*head = in.next
	giveBack(in, id)
	st.phase = idle
	if *head != 0 && asInstance(*head).off == hi-uintptr(r.SP)+8 {
		onReturn(r)
	}
}

// search finds the instance of the call whose slot is off bytes below the top of its stack,
// and takes off those below it.
func search(head *uintptr, off uintptr, id int, r *amd64.Regs) {
	leaveAbove(head, off, id)
	if *head == 0 || asInstance(*head).off != off {
		bug(*head, r)
	}
}

// missReturn handles a return inside a handler: it frees the instances without calling
// handlers.
func missReturn(id int, r *amd64.Regs) {
	head, hi := calls(trap.G(r))
	off := hi - uintptr(r.SP) + 8
	search(head, off, id, r)
	r.IP = uint64(asInstance(*head).RetAddr)
	for *head != 0 && asInstance(*head).off == off {
		in := asInstance(*head)
		*head = in.next
		in.RP.KP.ledger.CountNested(id, ledger.Recursion)
		giveBack(in, id)
	}
}

// bug handles a return without an instance: the return address is unknown, so the kernel
// dies.
func bug(p uintptr, r *amd64.Regs) {
	trap.SaveXMM(r)
	printk.Emerg("kretprobe BUG!: Processing kretprobe %x @ %x", p, r.SP)
	die.Fatal(r, 0)
}

// onNoteEager and onReturnEager are for when the rest may change X0-X14.
func onNoteEager(r *amd64.Regs, rp *Kretprobe) {
	trap.SaveXMM(r)
	onNote(r, rp)
}

func onReturnEager(r *amd64.Regs) {
	trap.SaveXMM(r)
	onReturn(r)
}
