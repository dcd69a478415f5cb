package explain

import (
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/optprobe"
)

// writeRegion lists the instructions that a jump covers, and draws the bytes
// before and after.
func (p *Place) writeRegion(w io.Writer) {
	code, n := p.region(), 0
	var rows []listing.Row
	comers := p.comers()
	for at := 0; at < len(code); n++ {
		in, text := p.asm(uint64(p.Addr)+uint64(at), code[at:])
		rows = append(rows, listing.Row{Label: listing.Offset(p.off() + at), Code: code[at : at+int(in.Len)], Text: text})
		at += int(in.Len)
	}
	fmt.Fprintf(w, "\nREGION    %s, %s: what a jump of %d bytes covers\n",
		count(len(code), "byte"), count(n, "instruction"), optprobe.JumpSize)
	for _, r := range rows {
		r.Write(w)
	}
	fmt.Fprintln(w)
	p.drawBytes(w)
	if p.Armed && len(p.Live) > 0 {
		fmt.Fprintf(w, "  %-10s %s\n", "now", listing.Bytes(p.Live))
	}
	for i := range len(code) {
		writeComers(w, listing.Offset(p.off()+i), comers[i])
	}
}

// maxComers is how many of the places that lead to a byte are listed.
const maxComers = 4

// writeComers lists the first of the places that lead to the byte called at.
func writeComers(w io.Writer, at string, who []string) {
	for i, from := range who {
		switch {
		case i < maxComers:
			fmt.Fprintf(w, "  %-10s is reached from %s\n", at, from)
		case i == maxComers:
			fmt.Fprintf(w, "  %-10s and %d more\n", "", len(who)-maxComers)
		}
	}
}

// drawBytes draws the region's bytes, one line per state. DCR and JTPR are the
// names that kprobes.txt §5 has for the region and for the bytes that no code may
// jump to.
func (p *Place) drawBytes(w io.Writer) {
	code := p.region()
	line := func(what, bytes, text string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-10s %s%s", what, bytes, text), " "))
	}
	var head strings.Builder
	for i := range code {
		fmt.Fprintf(&head, "%2d ", i)
	}
	line("byte", head.String(), "")
	line("before", listing.Bytes(code), "")
	line("INT3", "cc"+strings.Repeat(" ..", len(code)-1), "")
	if len(code) >= optprobe.JumpSize {
		jump, text := "e9 <- rel32 ->", "  JMP detour"
		if p.Layout.Entry != 0 {
			b, _ := insn.Jump(uint64(p.Addr), p.Layout.Entry)
			jump, text = listing.Bytes(b[:]), fmt.Sprintf("  JMP %#x", p.Layout.Entry)
		}
		if len(p.Why) > 0 {
			text = "  JMP detour: not here"
		}
		line("JUMP", jump+strings.Repeat(" ..", len(code)-optprobe.JumpSize), text)
		room := 3*len(code) - 1 - len("[<- DCR ->]")
		line("", "[<- DCR "+strings.Repeat("-", room)+"->]", "  detoured: runs as a copy")
		line("", "   [<-JTPR ->]", strings.Repeat(" ", 3*len(code)-15)+"  no jump may end here")
	}
}

// comers returns what leads to each byte of the region, by its offset in it.
func (p *Place) comers() [][]string {
	lo := p.off()
	list := make([][]string, p.Size)
	add := func(off uint64, format string, args ...any) {
		if i := off - uint64(lo); i < uint64(p.Size) {
			list[i] = append(list[i], fmt.Sprintf(format, args...))
		}
	}
	if lo == 0 && p.Size > 0 {
		list[0] = append(list[0], "its callers")
	}
	insn.Walk(p.Fn.Code, func(off int, in insn.Inst) bool {
		code, end := p.Fn.Code[off:], uint64(off)+uint64(in.Len)
		switch {
		case in.Flow.Direct():
			_, text := p.asm(p.Fn.Addr+uint64(off), code)
			add(in.Target(uint64(off)), "%s  %s", listing.Offset(off), text)
		case in.RIPRel && in.Map == insn.Map1B && in.Opcode == 0x8d:
			add(end+uint64(in.Disp()), "code that uses the address from the LEA at %s", listing.Offset(off))
		}
		if in.Flow == insn.Call || in.Flow == insn.CallInd {
			add(end, "the call at %s, which returns here", listing.Offset(off))
		}
		return true
	})
	for i := range list {
		for _, way := range p.scan.Ways(lo + i) {
			switch way {
			case optprobe.TableEntry:
				list[i] = append(list[i], "a jump table")
			case optprobe.Entry:
				list[i] = append(list[i], "code outside the function, or recover")
			}
		}
	}
	return list
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
