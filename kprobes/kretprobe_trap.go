//go:build tamago

package kprobes

// Trap context. A call is entered: its return address is replaced. It returns:
// to the trampoline, and from there to where it should.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
	"sonde/kernel/probe"
)

// calls returns the head of g's list of calls, and the top of its stack.
func calls(g unsafe.Pointer) (head *uintptr, hi uintptr) {
	_, hi = goruntime.Stack(g)
	return goruntime.Calls(g), hi
}

// trampolinePC is the address that replaces a return address.
var trampolinePC = codeAt.trampoline

// asInstance turns an address from a goroutine's list back. Safe because: the
// pools of probes with calls in flight are kept (graveyard).
func asInstance(p uintptr) *KretprobeInstance { return *(**KretprobeInstance)(unsafe.Pointer(&p)) }

// note is the pre-handler of the entry: it notes the call. r.SP is at the return address. Detours do
// the usual case themselves (detour_amd64.s).
func (rp *Kretprobe) note(st *state, id int, r *amd64.Regs) {
	g := trap.G(r)
	head, hi := calls(g)
	off := hi - uintptr(r.SP)
	if *head != 0 && asInstance(*head).off > off {
		buryAbove(head, off, id)
	}
	lr := uintptr(load(r.SP))
	if lr == trampolinePC {
		// Another return probe of this function was here first.
		lr = asInstance(*head).RetAddr
	} else if *head != 0 && asInstance(*head).off == off {
		bury(head, id) // the slot's last user never returned
	}
	in := rp.pool.get(id)
	if in == nil {
		rp.KP.ledger.Count(id, probe.NoInst)
		return
	}
	in.RetAddr, in.off = lr, off
	in.Task = Task(goruntime.Goid(g))
	if rp.EntryHandler != nil && rp.declines(st, in, r) {
		rp.pool.put(in, id)
		rp.KP.ledger.Count(id, probe.Declined)
		return
	}
	in.next = *head
	*head = uintptr(unsafe.Pointer(in))
	store(r.SP, uint64(trampolinePC))
}

// onNote is (*Kretprobe).note for rp behind a kprobe, where the detour does not deal
// with it itself. It calls no handler.
func onNote(r *amd64.Regs, rp *Kretprobe) {
	id := trap.ID(r)
	rp.KP.ledger.Count(id, probe.Entered)
	rp.note(&states[id].state, id, r)
}

// declines calls the entry handler. If that has to be abandoned, in is lost to
// the pool with it, so it is noted first.
func (rp *Kretprobe) declines(st *state, in *KretprobeInstance, r *amd64.Regs) bool {
	st.begin(&rp.KP)
	st.instance = uintptr(unsafe.Pointer(in))
	ret := rp.EntryHandler(in, r)
	st.instance = 0
	st.end()
	return ret != 0
}

// giveBack puts an instance in its pool again.
func giveBack(in *KretprobeInstance, id int) { in.RP.pool.put(in, id) }

// bury gives up the innermost call of a list: it will never return.
func bury(head *uintptr, id int) {
	in := asInstance(*head)
	*head = in.next
	in.RP.KP.ledger.CountNested(id, probe.Abandoned)
	giveBack(in, id)
}

// buryAbove gives up the calls whose frames lie below the frame at off: a panic
// or a switch of stacks has gone past them.
func buryAbove(head *uintptr, off uintptr, id int) {
	for *head != 0 && asInstance(*head).off > off {
		bury(head, id)
	}
}

// onDead is called by the runtime when it gives up calls: a goroutine ends, or recovers.
//
// Context: any.
func onDead(head uintptr) {
	flags := cpu.IRQOff()
	id := cpu.ID()
	for head != 0 {
		bury(&head, id)
	}
	cpu.IRQRestore(flags)
}

// onReturn takes the return of a probed function to the trampoline, which has made r
// look like a trap and does not deal with it itself; r.SP is behind the slot. It
// calls the return handlers of the call, innermost first. Interrupts are as the
// function has them (kprobes.txt §5).
func onReturn(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != idle {
		missReturn(id, r)
		return
	}
	st.phase = returning
	st.soft++
	st.frame = uintptr(unsafe.Pointer(r))
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
		k.ledger.Count(id, probe.Disarmed)
	case rp.sse:
		trap.SaveXMM(r)
		fallthrough
	default:
		if rp.Handler != nil {
			st.begin(k)
			rp.Handler(in, r)
			st.end()
		}
		k.ledger.Count(id, probe.Handled)
	}
	st.afterReturn(id, r)
}

// afterReturn gives the instance back whose handler is done, or was abandoned,
// and goes on with the next of the same call.
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

// search finds the instance of the call whose slot is off below the top of its
// stack, and gives up those below it.
func search(head *uintptr, off uintptr, id int, r *amd64.Regs) {
	buryAbove(head, off, id)
	if *head == 0 || asInstance(*head).off != off {
		bug(*head, r)
	}
}

// missReturn takes a return inside a handler: its instances are given back.
func missReturn(id int, r *amd64.Regs) {
	head, hi := calls(trap.G(r))
	off := hi - uintptr(r.SP) + 8
	search(head, off, id, r)
	r.IP = uint64(asInstance(*head).RetAddr)
	for *head != 0 && asInstance(*head).off == off {
		in := asInstance(*head)
		*head = in.next
		in.RP.KP.ledger.CountNested(id, probe.Recursion)
		giveBack(in, id)
	}
}

// bug takes a return that no instance stands for: there is nowhere to go.
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
