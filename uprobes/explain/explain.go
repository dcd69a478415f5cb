// Package explain draws a place in a program with everything that a probe does there: the
// instruction, the ways in which it can be executed and the one that is used, its copy in a
// slot, how returns of its function are seen, and which probes are there.
//
// A Place holds facts, and the text is made from them; only kernel_tamago.go knows where
// they come from. The drawings are plain ASCII, 80 columns wide.
package explain

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/arch/amd64/prologue"
	"sonde/linux/program"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

// Place is a place in a program.
type Place struct {
	Title  string         // what it is called
	Path   string         // of the file that its code is from
	Addr   uint64         // where it is: in a process, or as the file says
	Bias   uint64         // what the file's addresses are moved by there
	Offset uint64         // in the file
	Fn     program.Symbol // the function, as the file has it; Size 0: not known
	Body   []byte         // its code
	Code   []byte         // from Addr on

	Returns, Leaves []uint64 // see program.File.Returns
	ReturnsBy       string   // see images.ReturnsOf
	Check           prologue.Check
	Boundary        error // no instruction begins at Addr
	// Name returns the symbol that an address, as the file has it, lies in, and where that
	// begins.
	Name func(addr uint64) (name string, base uint64)

	Probes []uprobes.Info
	Slot   uint64 // of the copy; 0: it has none
}

// off is the offset in the function.
func (p *Place) off() int { return int(p.Addr - p.Bias - p.Fn.Addr) }

// WriteTo draws the place.
func (p *Place) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	plan, err := place.Decide(p.Code, p.Addr)
	if p.Boundary != nil {
		err = p.Boundary
	}
	p.writeTitle(&b, plan, err)
	if plan != nil && p.Boundary == nil {
		p.writeInstruction(&b, plan)
		p.writeWays(&b, plan)
		p.writeSlot(&b, plan)
	}
	p.writeReturns(&b)
	p.writeProbes(&b)
	return b.WriteTo(w)
}

func (p *Place) writeTitle(w io.Writer, plan *place.Plan, err error) {
	fmt.Fprintf(w, "%s\n  at %#x, offset %#x of %s", p.Title, p.Addr, p.Offset, p.Path)
	if p.Fn.Size > 0 {
		n := 0
		insn.Walk(p.Body, func(int, insn.Inst) bool { n++; return true })
		fmt.Fprintf(w, ",\n  in a function of %d bytes, %d instructions", p.Fn.Size, n)
	}
	switch {
	case err != nil:
		fmt.Fprintf(w, "\n  Cannot be probed: %v.\n", err)
	case len(p.Probes) > 0:
		fmt.Fprintf(w, "\n  Probed.\n")
	default:
		fmt.Fprintf(w, "\n  Not probed. Way of execution with a probe: %v.\n", plan.Way)
	}
}

// text prints an instruction that stands at addr, of the function or of a copy.
func (p *Place) text(addr uint64, code []byte) (insn.Inst, string) {
	f := listing.Function{Addr: p.Fn.Addr + p.Bias, Size: p.Fn.Size}
	if p.Name != nil {
		f.Name = func(a uint64) (string, uint64) {
			name, base := p.Name(a - p.Bias)
			return name, base + p.Bias
		}
	}
	return f.Asm(addr, code)
}

func (p *Place) writeInstruction(w io.Writer, plan *place.Plan) {
	label := fmt.Sprintf("%#x", p.Addr)
	if p.Fn.Size > 0 {
		label = listing.Offset(p.off())
	}
	in, text := p.text(p.Addr, p.Code)
	fmt.Fprintln(w, "\nINSTRUCTION")
	listing.Row{Label: label, Code: p.Code[:in.Len], Text: text}.Write(w)
	if p.Check.Kind != prologue.None && p.off() == 0 {
		fmt.Fprintf(w, "  begins Go's stack check: %d bytes before its branch\n", p.Check.Len)
	}
}

// how says what each way means.
var how = map[place.Way]string{
	place.Nothing: "IP is set to the next instruction",
	place.Emulate: "on the saved registers and the program's memory",
	place.Boost:   "a copy in a slot runs, and jumps back",
	place.Step:    "a copy in a slot is single-stepped, with a second trap",
	place.Syscall: "the hit makes the system call itself",
}

func (p *Place) writeWays(w io.Writer, plan *place.Plan) {
	fmt.Fprintln(w, "\nWAYS")
	for way := place.Nothing; way <= place.Syscall; way++ {
		note := ""
		switch {
		case !plan.Allows(way):
			continue
		case way == plan.Way:
			note = "taken"
		}
		fmt.Fprintf(w, "  %-6s %-12v %s\n", note, way, how[way])
	}
}

// writeSlot lists the copy.
func (p *Place) writeSlot(w io.Writer, plan *place.Plan) {
	if plan.Way != place.Boost && plan.Way != place.Step {
		return
	}
	at, what := p.Slot, "as it is"
	if at == 0 {
		at, what = p.Addr&^0xfff-0x1000+place.SlotSize, "as it would be"
	}
	code, err := plan.Slot(at)
	if err != nil {
		return
	}
	fmt.Fprintf(w, "\nSLOT      of %d bytes in [uprobes], %s\n", place.SlotSize, what)
	for off := 0; off < len(code); {
		in, text := p.text(at+uint64(off), code[off:])
		r := listing.Row{Label: fmt.Sprintf("%#x", at+uint64(off)), Code: code[off:][:in.Len], Text: text}
		switch {
		case off == 0 && in.RIPRel:
			r.Note = "disp32 corrected"
		case off > 0:
			r.Note = "--> after it"
		}
		r.Write(w)
		off += int(in.Len)
	}
}

// writeReturns says how the returns of the function are seen.
func (p *Place) writeReturns(w io.Writer) {
	if p.Fn.Size == 0 {
		return
	}
	fmt.Fprintln(w, "\nRETURNS")
	switch {
	case p.off() != 0:
		fmt.Fprintf(w, "  a return probe must be at the function's first instruction\n")
	default:
		fmt.Fprintf(w, "  by %s\n", p.ReturnsBy)
	}
	p.list(w, "return instructions", p.Returns)
	p.list(w, "jumps that may leave it", p.Leaves)
}

// list prints the offsets of instructions.
func (p *Place) list(w io.Writer, what string, addrs []uint64) {
	if len(addrs) == 0 {
		return
	}
	line := "  " + what + ":"
	for i, a := range addrs {
		if len(line) > listing.Width-16 {
			line += fmt.Sprintf(" .. %d more", len(addrs)-i)
			break
		}
		line += " " + listing.Offset(int(a-p.Fn.Addr))
	}
	fmt.Fprintln(w, line)
}

func (p *Place) writeProbes(w io.Writer) {
	if len(p.Probes) == 0 {
		return
	}
	fmt.Fprintln(w, "\nPROBES")
	for _, i := range p.Probes {
		who := "all processes"
		if i.Pid != 0 {
			who = fmt.Sprintf("pid %d (%s)", i.Pid, i.Program)
		}
		note := ""
		switch {
		case i.Way == "fused":
			note = ", fused"
		case strings.HasSuffix(i.Way, uprobes.InTheTrap):
			note = "," + uprobes.InTheTrap
		}
		if i.Disabled {
			note += ", disabled"
		}
		fmt.Fprintf(w, "  %-2s  %s, %d hits%s\n", i.Kind, who, i.Ledger.Entered, note)
		if i.Unfit != "" {
			fmt.Fprintf(w, "      not fused: %s\n", i.Unfit)
		}
	}
}
