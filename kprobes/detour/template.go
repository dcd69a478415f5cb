package detour

import (
	"bytes"
	"encoding/binary"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// Immediates in the templates that stand for something else; what for, they say
// themselves.
const (
	MarkPoint  = 0x746e696f70746e69
	MarkBehind = 0x6b6e6962
	MarkResume = 0x656d7572
	MarkWhere  = 0x65726877
	MarkLate   = 0x6574616c
)

// CheckRoom is how long the copy of a stack check in a detour may be, in bytes.
const CheckRoom = 48

// A template is the code that a detour begins with.
type template struct {
	addr  uintptr // of the original
	code  []byte  // with 0 in place of MarkPoint
	entry int
	// Where the immediates stand; -1: nowhere.
	point, behind, resume, where, late int
}

// templates are by Template; late is where Note leads when the case is not the usual
// one. Written once, at boot.
var (
	templates [CallsGo + 1]*template
	late      uintptr
)

// SetTemplates says where the assembly is.
//
// Context: boot, goroutine.
func SetTemplates(call, note, callsGo, whenLate uintptr) {
	templates = [...]*template{Call: newTemplate(call), Note: newTemplate(note), CallsGo: newTemplate(callsGo)}
	late = whenLate
}

// newTemplate reads the function at addr up to its UD2.
func newTemplate(addr uintptr) *template {
	s, _ := kallsyms.Kernel().At(uint64(addr))
	code := machine.This.Code(uintptr(s.Addr), uintptr(s.Size))
	end, _ := insn.Walk(code, func(off int, _ insn.Inst) bool { return code[off] != 0x0f || code[off+1] != 0x0b })
	code = bytes.Clone(code[:end])
	at := func(imm uint32) int { return bytes.Index(code, binary.LittleEndian.AppendUint32(nil, imm)) }
	t := &template{
		addr: addr, code: code,
		entry:  bytes.Index(code, bytes.Repeat([]byte{0x90}, CheckRoom)) + CheckRoom,
		point:  bytes.Index(code, binary.LittleEndian.AppendUint64(nil, MarkPoint)),
		behind: at(MarkBehind), resume: at(MarkResume), where: at(MarkWhere), late: at(MarkLate),
	}
	binary.LittleEndian.PutUint64(code[t.point:], 0)
	return t
}

// Where returns where the assembly of t is, and how many bytes of it detours have.
func (t Template) Where() (addr, size uintptr) {
	return templates[t].addr, uintptr(len(templates[t].code))
}

// Begin returns the code that d begins with: d.Begins and d.Head are set. At entry
// is where it is entered, with CheckRoom in front.
func (d *Detour) Begin() (code []byte, entry int) {
	t := templates[d.Begins]
	return append(make([]byte, 0, Size), t.code...), t.entry
}

// Fill fills in in code, which begins as Begin says, where d is and leads. The
// point is filled in when d is bound.
func (d *Detour) Fill(code []byte) {
	t := templates[d.Begins]
	put := func(at int, v uintptr) {
		if at >= 0 {
			binary.LittleEndian.PutUint32(code[at:], uint32(v))
		}
	}
	d.PointAt = d.Head + uintptr(t.point)
	put(t.behind, d.Addr+1)
	put(t.resume, d.Resume)
	put(t.where, d.PointAt)
	put(t.late, late)
}
