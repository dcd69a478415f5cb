//go:build tamago

package kprobes

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/probe"
	"sonde/kernel/text"
	"sonde/kprobes/machine"
)

// What assembly knows of the layouts of other packages, and of ours.
type (
	trapCPU   trap.CPU
	trapFrame trap.Frame
	regs      amd64.Regs
)

const (
	vecReturn = amd64.VecReturn
	vecDetour = amd64.VecDetour
	flagDF    = amd64.RFLAGS_DF
	selCode   = amd64.SelKernelCode
	selData   = amd64.SelKernelData
	stackHi   = goruntime.GStackHi
	gGoid     = goruntime.GGoid
	gCalls    = goruntime.GCalls

	// Of a probe.Accounts, which begins with the address of CPU 0's.
	accountShift = probe.AccountShift
	accountN     = probe.AccountCounters
	entered      = probe.Entered
	handled      = probe.Handled

	freeListShift = 7
	instanceShift = 7
)

// The sizes are what the shifts say: otherwise this does not compile.
var (
	_ [0]struct{} = [unsafe.Sizeof(freeList{}) - 1<<freeListShift]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(KretprobeInstance{}) - 1<<instanceShift]struct{}{}
)

// Immediates in the templates that stand for something else.
const (
	site_   = 0x6574697365746973
	behind_ = 0x6b6e6962
	resume_ = 0x656d7572
	where_  = 0x65726877
	late_   = 0x6574616c
)

// CheckRoom is how long the copy of a stack check in a detour may be, in bytes.
const CheckRoom = 48

// codeAt is where our assembly is that is copied, or jumped to.
var codeAt = codeAddrs()

func codeAddrs() (at struct{ detour, note, plain, late, noted, trampoline uintptr })

// A template is what a detour begins with.
type template struct {
	addr  uintptr // of the original
	code  []byte  // with 0 in place of site_
	entry int
	// Where the immediates stand; -1: nowhere.
	site, behind, resume, where, late int
}

func newTemplate(addr uintptr) *template {
	s, _ := kallsyms.Kernel().At(uint64(addr))
	code := text.Bytes(uintptr(s.Addr), uintptr(s.Size))
	end, _ := insn.Walk(code, func(off int, _ insn.Inst) bool { return code[off] != 0x0f || code[off+1] != 0x0b })
	code = bytes.Clone(code[:end])
	at := func(imm uint32) int { return bytes.Index(code, binary.LittleEndian.AppendUint32(nil, imm)) }
	t := &template{
		addr: addr, code: code,
		entry:  bytes.Index(code, bytes.Repeat([]byte{0x90}, CheckRoom)) + CheckRoom,
		site:   bytes.Index(code, binary.LittleEndian.AppendUint64(nil, site_)),
		behind: at(behind_), resume: at(resume_), where: at(where_), late: at(late_),
	}
	binary.LittleEndian.PutUint64(code[t.site:], 0)
	return t
}

// templates are detour, note and plain, by Template.
var templates = sync.OnceValue(func() [3]*template {
	return [...]*template{
		TemplateCall: newTemplate(codeAt.detour), TemplateNote: newTemplate(codeAt.note), TemplatePlain: newTemplate(codeAt.plain),
	}
})

// template returns what d begins with.
func (d *Detour) template() *template { return templates()[d.Begins] }

// Begin returns the code that d begins with: d.Begins and d.Head are set. At entry
// is where it is entered, with CheckRoom in front.
//
// Context: goroutine.
func (d *Detour) Begin() (code []byte, entry int) {
	t := d.template()
	return append(make([]byte, 0, DetourSize), t.code...), t.entry
}

// Fill fills in in code, which begins as Begin says, where d is and leads. The
// site is filled in when d is bound.
//
// Context: goroutine.
func (d *Detour) Fill(code []byte) {
	t := d.template()
	put := func(at int, v uintptr) {
		if at >= 0 {
			binary.LittleEndian.PutUint32(code[at:], uint32(v))
		}
	}
	put(t.behind, d.Addr+1)
	put(t.resume, d.Resume)
	d.siteAt = d.Head + uintptr(t.site)
	put(t.where, d.siteAt)
	put(t.late, codeAt.late)
}

// initDetours tells the runtime where detours are and what they begin with.
//
// Context: boot.
func initDetours() {
	calls := templates()[TemplateCall] // plain is shorter; note calls nothing
	goruntime.CopiesOf(calls.addr, uintptr(len(calls.code)), machine.This.Detours.Start(), machine.This.Detours.End(), DetourSize)
}

// lean says that our way through a hit leaves X0-X14 alone (reach.HitKeepsSSE).
var lean bool

// initState fills in what does not change of CPU id's state, and returns its
// address.
//
// Context: boot, after goLean.
func initState(id int) uintptr {
	st := &states[id].state
	st.id, st.trampoline = uint64(id), trampolinePC
	st.noted = codeAt.noted
	st.onDetour, st.onReturn, st.onNote = goabi.CodeOf(onDetour), goabi.CodeOf(onReturn), goabi.CodeOf(onNote)
	if !lean {
		st.onDetour, st.onReturn, st.onNote = goabi.CodeOf(onDetourEager), goabi.CodeOf(onReturnEager), goabi.CodeOf(onNoteEager)
	}
	return uintptr(unsafe.Pointer(st))
}

// Trap context from here on. What happens between the jump of an optimized probe and
// the instructions behind it, but for what the detour does itself (detour_amd64.s).
// Interrupts are as the probed code has them (spec/4 §5), so that an interrupt's
// probes may come in between at any point: this CPU's phase is set before anything
// else, from then on those are nested hits.

// onDetour is onBreakpoint for a hit of s by a jump.
func onDetour(r *amd64.Regs, s *site) {
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != idle {
		s.countMissed(id)
		r.IP = uint64(s.resume.Load())
		return
	}
	st.begins(s, r)
	st.soft++
	r.IP = uint64(s.Addr) + 1
	st.handOver(r)
	onBreakpoint(r)
}

// onNote is (*Kretprobe).note for rp behind a kprobe, where the detour does not deal
// with it itself. It calls no handler.
func onNote(r *amd64.Regs, rp *Kretprobe) {
	id := trap.ID(r)
	rp.KP.ledger.Count(id, probe.Entered)
	rp.note(&states[id].state, id, r)
}

// quiesceHits returns when every CPU has been outside all handlers. A handler that
// a trap called keeps interrupts off, so the interrupt of Sync comes after it; one
// that was called by a jump is waited for.
//
// Context: goroutine.
func quiesceHits() {
	text.Sync()
	for i := range cpu.Num() {
		st := &states[i].state
		for hits := atomic.LoadUint64(&st.soft); st.busy() && atomic.LoadUint64(&st.soft) == hits; {
			runtime.Gosched()
		}
	}
}

// onDetourEager, onNoteEager and onReturnEager are for when the rest may change X0-X14.
func onDetourEager(r *amd64.Regs, s *site) {
	trap.SaveXMM(r)
	onDetour(r, s)
}

func onNoteEager(r *amd64.Regs, rp *Kretprobe) {
	trap.SaveXMM(r)
	onNote(r, rp)
}

func onReturnEager(r *amd64.Regs) {
	trap.SaveXMM(r)
	onReturn(r)
}
