package explain

import (
	"fmt"
	"io"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/kprobes/detour"
	"sonde/optprobe"
)

// writeDetour lists the detour from the jump's target to the jump back.
func (p *Place) writeDetour(w io.Writer) {
	if len(p.Layout.Code) == 0 {
		return
	}
	what := "would be laid out"
	if p.Detour != nil {
		what = "is in memory"
	}
	fmt.Fprintf(w, "\nDETOUR    of %s at %#x, as it %s\n", count(len(p.Layout.Code), "byte"), p.Layout.Entry, what)
	p.writePath(w)
	p.writeCode(w, p.Layout.Entry, p.Layout.Code)
	p.writeCode(w, p.Layout.Slow, p.Layout.Apart)
}

// writeCode lists code of the detour that is at an address.
func (p *Place) writeCode(w io.Writer, from uint64, code []byte) {
	var f folder
	for at := 0; at < len(code); {
		addr := from + uint64(at)
		in, text := p.asm(addr, code[at:])
		r := listing.Row{Label: short(addr), Code: code[at:][:in.Len], Text: text}
		if title := p.part(addr, &in); title != "" {
			f.flush(w)
			f.doing = ""
			fmt.Fprintf(w, " %s\n", title)
		}
		if p.inFused(addr) {
			r.Note = p.fusedNote(addr, &in)
		} else if addr < p.Layout.Resume {
			r.Note = p.wayNote(at, &in)
		} else {
			r.Note = p.copyNote(addr, &in)
		}
		f.add(w, r)
		at += int(in.Len)
	}
	f.flush(w)
}

// writePath draws what leads to where: in the end, and before the jump is in.
func (p *Place) writePath(w io.Writer) {
	from, end := listing.Offset(p.off()), listing.Offset(p.off()+int(p.Layout.Len))
	code := p.region()
	for at := 0; at < len(code); {
		in, _ := insn.Decode(code[at:])
		if at += int(in.Len); at == len(code) && !in.Flow.FallsThrough() {
			end = "target"
		}
	}
	if p.Fused {
		fmt.Fprintf(w, " JMP  at %s --> fused %s --> resume %s --> %s\n", from, short(p.Layout.Fused), short(p.Layout.Resume), end)
	} else {
		fmt.Fprintf(w, " JMP  at %s --> entry %s --> handlers --> resume %s --> %s\n", from, short(p.Layout.Entry), short(p.Layout.Resume), end)
	}
	if len(p.blockers()) == 0 {
		fmt.Fprintf(w, " INT3 at %s --> #BP --> handlers --> resume %s --> %s\n", from, short(p.Layout.Resume), end)
	}
}

// short is the end of an address of the detour, whose whole one is in the heading.
func short(addr uint64) string { return fmt.Sprintf("..%08x", uint32(addr)) }

// part is the title of the part of the detour that begins at addr.
func (p *Place) part(addr uint64, in *insn.Inst) string {
	switch {
	case addr == p.Layout.Slow && p.inFused(addr):
		return "a hit inside of another one or of a program, or without its key: the general way, after all"
	case addr == p.Layout.Fused:
		return "fused: the program itself. A hit of the only probe begins here"
	case p.inFused(addr):
	case addr == p.Layout.Resume:
		return "resume: the copy. A hit of the INT3 continues here, too"
	case addr > p.Layout.Resume:
	case in.IsPushf():
		return "the handlers"
	case p.returnOnly() && addr == p.Layout.Entry+p.checkLen():
		return "only a return probe: no handler to call, no switch of stacks"
	case addr == p.Layout.Entry:
		return "entry: the stack check, once. If it fails, no hit is counted"
	}
	return ""
}

// inFused reports whether an address is in the code that has the program in it.
func (p *Place) inFused(addr uint64) bool {
	return p.Layout.Fused != 0 && addr >= p.Layout.Slow && addr < p.Layout.Past
}

// fusedNote explains an instruction there.
func (p *Place) fusedNote(addr uint64, in *insn.Inst) string {
	switch {
	case in.Flow == insn.Jcc && in.Target(addr)-p.Layout.Slow < p.Layout.Fused-p.Layout.Slow:
		return "--> the general way"
	case in.Flow == insn.Jmp && addr < p.Layout.Fused:
		return "--> the handlers"
	case in.Flow == insn.Jmp && in.Target(addr) == p.Layout.Resume:
		return "--> resume"
	case in.Flow == insn.Jcc && in.Target(addr)-p.Fn.Addr < uint64(len(p.Fn.Code)):
		return "--> morestack"
	}
	return ""
}

// returnOnly reports whether the way to the handlers begins with what is done for
// a return probe and nothing else.
func (p *Place) returnOnly() bool { return p.Detour != nil && p.Detour.Begins == detour.Note }

// checkLen is how long the copy of the stack check is. Its branches, of two bytes
// in the original, have six.
func (p *Place) checkLen() (n uint64) {
	code := p.Layout.Code
	for at := 0; p.Check > 0 && at <= p.Check && n < uint64(len(code)); {
		in, _ := insn.Decode(code[n:])
		was, err := insn.Decode(p.Fn.Code[p.off()+at:])
		if err != nil {
			break
		}
		at += int(was.Len)
		n += uint64(in.Len)
	}
	return n
}

// Notes of the way to the handlers that say where in it one is.
const (
	noteOwn   = "to hold SP"
	noteStack = "--> the trap stack"
	noteNames = "names the probes"
	noteFew   = "on the same stack"
	noteAlone = "names the probe"
	noteCall  = "the handlers"
)

// wayNote explains the instruction at offset at of the detour, in front of the copy.
func (p *Place) wayNote(at int, in *insn.Inst) string {
	code := p.Layout.Code
	addr := p.Layout.Entry + uint64(at)
	reg := in.RMReg()
	switch {
	case in.Flow == insn.Jcc && in.Target(addr)-p.Fn.Addr < uint64(len(p.Fn.Code)):
		return "--> morestack"
	case in.IsPushf():
		return "as an INT3 would"
	case at > 0 && code[at-1] == 0x9c: // PUSHFQ
		return noteOwn
	case p.returnOnly() && addr == p.Layout.Entry+p.checkLen():
		return noteFew
	case in.ImmLen == 8 && p.returnOnly():
		return noteAlone
	case in.ImmLen == 8:
		return noteNames
	case in.Map == insn.Map1B && in.Opcode == 0x87 && (reg == insn.RSP || in.Reg() == insn.RSP): // XCHGQ
		return noteStack
	case in.Flow == insn.CallInd:
		return noteCall
	case addr+uint64(in.Len) == p.Layout.Resume && !p.returnOnly():
		return "<-- the first stack"
	}
	return ""
}

// copyNote says how an instruction of the copy differs from the original.
func (p *Place) copyNote(addr uint64, in *insn.Inst) string {
	c, _ := optprobe.Relocate(p.region(), uint64(p.Addr), p.Layout.Resume)
	at, ok := c.Original(addr)
	if p.Check > 0 || !ok {
		return "--> after check"
	}
	if at.Pushed {
		return "... and the call"
	}
	if start, begins := c.At(at.IP); !begins || start != addr {
		if in.Flow == insn.Jmp && at.IP == uint64(p.Addr)+uint64(p.Size) {
			return "--> after region"
		}
		return ""
	}
	was, err := insn.Decode(p.Fn.Code[at.IP-p.Fn.Addr:])
	switch {
	case err != nil:
		return ""
	case was.Flow == insn.Call || was.Flow == insn.CallInd:
		return "original return IP"
	case was.Flow.Direct() && was.RelLen == 1:
		return "was rel8"
	case was.Flow.Direct():
		return "rel32 corrected"
	case was.RIPRel:
		return "disp32 corrected"
	}
	return ""
}
