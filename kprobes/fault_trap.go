//go:build tamago

package kprobes

// Trap context. Exceptions in handlers, in copies and in emulations; and which original
// instruction a copy belongs to.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/mm"
	"sonde/kernel/notifier"
	"sonde/kprobes/machine"
	"sonde/probe/handler"
)

// onFault takes every exception except #BP, #DB and NMI. It asks the fault-handler first.
// If that does not handle it, a fault in a copy or in an emulation is moved to the original
// instruction, and a handler that faults is abandoned.
func onFault(r *amd64.Regs, addr uint64) notifier.Action {
	id := trap.ID(r)
	st := states[id]
	if st.Probe != 0 && handler.Interrupted(st.Frame) { // the fault belongs to the interrupt
		if mm.Slots.Contains(uintptr(r.IP)) {
			toOriginal(r)
		}
		return notifier.Next
	}
	if mm.Slots.Contains(uintptr(r.IP)) {
		switch {
		case st.phase == stepping || st.phase == filming:
			return st.copyFault(r, addr)
		case st.Probe != 0:
			return st.nestedCopyFault(id, r, addr)
		default:
			toOriginal(r)
			if st.phase == idle {
				return st.runFault(r, addr)
			}
		}
	}
	switch {
	case st.Probe != 0:
		return st.handlerFault(id, r, addr)
	case st.phase == emulating:
		st.fault, st.err, st.addr = r.Vector, r.Err, addr
		st.abandon(r)
		return notifier.Stop
	}
	blameAt(id, r, addr)
	return notifier.Next
}

// handlerFault takes a fault in a handler, or in what it called. A fault-handler is not
// asked about its own faults.
func (st *state) handlerFault(id int, r *amd64.Regs, addr uint64) notifier.Action {
	k := asProbe(st.Probe)
	if k.FaultHandler != nil && !st.inFault {
		st.inFault = true
		was := spotOf(r)
		done := k.FaultHandler(k, r, int(r.Vector)) != 0
		st.inFault = false
		k.moved(id, roleFault, r, was, done)
		if done {
			return notifier.Stop
		}
	}
	handlers.Kill(die.FaultName(r, addr), "", r)
	return notifier.Stop
}

// nestedCopyFault is handlerFault for the copy of a probed instruction that a handler
// executes. If the fault-handler fixes it, the copy continues, since the original may be
// under a jump.
func (st *state) nestedCopyFault(id int, r *amd64.Regs, addr uint64) notifier.Action {
	ip, sp := r.IP, r.SP
	toOriginal(r)
	shown, by := r.IP, r.SP-sp
	action := st.handlerFault(id, r, addr)
	if r.IP == shown {
		r.IP, r.SP = ip, r.SP-by
	}
	return action
}

// copyFault takes a fault in a copy that is being stepped.
func (st *state) copyFault(r *amd64.Regs, addr uint64) notifier.Action {
	pt := asPoint(st.point)
	st.fault, st.err, st.addr = r.Vector, r.Err, addr
	filmFault(int(st.id), r)
	if pt.fixedUp(st, r) {
		pt.afterFault(r, st.flags)
		return notifier.Stop
	}
	pt.undoStep(r, st.flags)
	return notifier.Next
}

// runFault takes a fault in a copy that runs in a slot or in a detour; r looks as if the
// original had faulted. In a detour that may be another instruction than the probed one.
func (st *state) runFault(r *amd64.Regs, addr uint64) notifier.Action {
	pt := points.Find(uintptr(r.IP))
	if pt == nil {
		return notifier.Next
	}
	st.fault, st.err, st.addr = r.Vector, r.Err, addr
	st.flags = r.Flags & stepFlags
	if pt.fixedUp(st, r) {
		return notifier.Stop
	}
	r.IP = uint64(pt.Addr)
	return notifier.Next
}

// emulationFault takes a fault that ended the emulation of pt; r is the hit's.
func (st *state) emulationFault(pt *point, r *amd64.Regs) {
	trap.SaveXMM(r)
	r.IP, r.Vector, r.Err = uint64(pt.Addr), st.fault, st.err
	filmFault(int(st.id), r)
	st.flags = r.Flags & stepFlags
	if !pt.fixedUp(st, r) {
		r.IP = uint64(pt.Addr)
		refault(r, st)
	}
}

// fixedUp asks the fault-handlers of pt about the fault r of its instruction, and reports
// whether one of them has handled it.
func (pt *point) fixedUp(st *state, r *amd64.Regs) bool {
	st.Frame, st.point = uintptr(unsafe.Pointer(r)), uintptr(unsafe.Pointer(pt))
	st.phase = faulting
	for _, k := range pt.probes() {
		if k.FaultHandler == nil || k.Flags.Has(flagOff) {
			continue
		}
		was := spotOf(r)
		st.begin(k)
		done := k.FaultHandler(k, r, int(r.Vector)) != 0
		st.end()
		k.moved(int(st.id), roleFault, r, was, done)
		if done {
			st.phase = idle
			return true
		}
	}
	st.phase = idle
	return false
}

// afterFault makes r continue after a fault that a handler has handled: where the handler
// wants, or at the original instruction again.
func (pt *point) afterFault(r *amd64.Regs, flags uint64) {
	if mm.Slots.Contains(uintptr(r.IP)) {
		r.IP = uint64(pt.Addr)
	}
	r.Flags = r.Flags&^uint64(stepFlags) | flags
}

// undoStep makes r look as if the original instruction had faulted.
func (pt *point) undoStep(r *amd64.Regs, flags uint64) {
	r.IP = uint64(pt.Addr)
	r.Flags = r.Flags&^uint64(stepFlags) | flags
}

// refault makes r continue as if the probed instruction itself had faulted.
func refault(r *amd64.Regs, st *state) {
	trap.SaveXMM(r)
	die.Refault(r, st.fault, st.err, st.addr)
}

// OriginalIP returns the original address for ip: for a copy in a slot, the probed address
// or the one after it; otherwise ip itself.
//
// Context: any.
func OriginalIP(ip uintptr) uintptr {
	switch {
	case mm.Text.Contains(ip): // first: as a rule it is here
		return emulatedAt(ip)
	case machine.This.Slots.Contains(ip):
		slot, addr := machine.This.Slots.Find(ip)
		if addr == 0 {
			return ip
		}
		if pt := points.Find(addr); pt != nil && ip != slot {
			return addr + uintptr(pt.In.Len)
		}
		return addr
	case machine.This.Detours.Contains(ip):
		_, addr := machine.This.Detours.Find(ip)
		if addr == 0 {
			return ip
		}
		switch pt := points.Find(addr); {
		case pt == nil:
			return addr
		case pt.detour == nil || !pt.detour.Contains(ip):
			return machine.This.Known // a stub, on the entry stack
		default:
			return pt.detour.Original(ip)
		}
	}
	return ip
}

// performLo and performHi are the bounds of perform.
var performLo, performHi uintptr

// findPerform sets performLo and performHi.
//
// Context: boot.
func findPerform() {
	if fn, err := kallsyms.Resolve("sonde/kprobes.perform"); err == nil {
		performLo, performHi = uintptr(fn.Addr), uintptr(fn.End())
	}
}

// emulatedAt returns ip, unless this CPU is there to access memory for an instruction that
// it emulates: then it returns the address after that instruction.
func emulatedAt(ip uintptr) uintptr {
	if ip < performLo || ip >= performHi {
		return ip
	}
	st := states[cpu.ID()]
	if st.phase != emulating {
		return ip
	}
	pt := asPoint(st.point)
	return pt.Addr + uintptr(pt.In.Len)
}

// toOriginal moves r from a copy to the original instruction.
func toOriginal(r *amd64.Regs) {
	ip := uintptr(r.IP)
	r.IP = uint64(OriginalIP(ip))
	if r.IP == uint64(ip) || !machine.This.Detours.Contains(ip) {
		return
	}
	_, addr := machine.This.Detours.Find(ip)
	if pt := points.Find(addr); pt != nil && pt.detour != nil && pt.detour.Contains(ip) {
		r.SP += 8 * uint64(pt.detour.Depth(ip))
	}
}
