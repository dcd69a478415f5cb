package explain

import (
	"bytes"
	"fmt"
	"io"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/shell/paint"
)

// WriteTo draws the place.
func (p *Place) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	p.writeTitle(&b)
	p.writeProbes(&b)
	p.writeTiers(paint.Like(w, &b))
	p.writeWhy(&b)
	if p.Size > 0 {
		p.writeRegion(&b)
	}
	p.writeDetour(&b)
	return b.WriteTo(w)
}

// writeTitle tells which instruction it is about, and how it ends.
func (p *Place) writeTitle(w io.Writer) {
	p.writeHead(w)
	p.writeSignature(w)
	fmt.Fprintln(w, "\nINSTRUCTION")
	p.writeInstruction(w)
	if p.Check > 0 {
		fmt.Fprintf(w, "  begins the function's stack check: %s before its branch\n", count(p.Check, "byte"))
	}
}

func (p *Place) writeHead(w io.Writer) {
	n := 0
	insn.Walk(p.Fn.Code, func(int, insn.Inst) bool { n++; return true })
	fmt.Fprintf(w, "%s%s\n", p.Symbol, listing.Offset(p.off()))
	fmt.Fprintf(w, "  at %#x, in a function of %s, %s\n", p.Addr, count(len(p.Fn.Code), "byte"), count(n, "instruction"))
	fmt.Fprintf(w, "  %s\n", p.verdict())
}

// writeSignature tells what the function is called with, and what it returns.
func (p *Place) writeSignature(w io.Writer) {
	if !p.Signed {
		return
	}
	label := "args: "
	if p.off() != 0 {
		label = "args, at the function's entry: "
	}
	writeList(w, label, p.Args)
	writeList(w, "returns: ", p.Results)
}

// writeList writes parts with commas between, in as many lines as they need.
func writeList(w io.Writer, label string, parts []string) {
	line := "  " + label
	if len(parts) == 0 {
		line += "none"
	}
	for i, part := range parts {
		if i < len(parts)-1 {
			part += ","
		}
		if i > 0 && len(line)+1+len(part) > listing.Width {
			fmt.Fprintln(w, listing.Cut(line, listing.Width))
			line = "   "
		}
		if i > 0 {
			part = " " + part
		}
		line += part
	}
	fmt.Fprintln(w, listing.Cut(line, listing.Width))
}

func (p *Place) writeInstruction(w io.Writer) {
	code := p.Fn.Code[p.off():]
	in, text := p.asm(uint64(p.Addr), code)
	listing.Row{Label: listing.Offset(p.off()), Code: code[:in.Len], Text: text}.Write(w)
}

// writeProbes lists the probes there and close by.
func (p *Place) writeProbes(w io.Writer) {
	if len(p.Probes)+len(p.Near) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, "PROBES")
	}
	for _, k := range p.Probes {
		note := ""
		if k.Disabled {
			note = ", disabled"
		}
		if k.Fused > 0 {
			note = fmt.Sprintf(", %d of them by the program itself%s", k.Fused, note)
		}
		fmt.Fprintf(w, "  %s  %s%s\n", k.Kind, count(int(k.Ledger.Entered), "hit"), note)
		for _, h := range k.Handlers {
			fmt.Fprintln(w, listing.Cut("     "+h, listing.Width))
		}
	}
	for _, n := range p.Near {
		note := ""
		if n.Addr < p.Addr && p.Addr < n.Addr+n.Covers && len(p.Probes) == 0 && n.Jumped {
			note = ": a probe here removes its jump"
		}
		fmt.Fprintf(w, "  another at %s%s\n", listing.Offset(int(n.Addr)-int(p.Func)), note)
	}
}
