package explain

import (
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"

	"golang.org/x/arch/x86/x86asm"
)

// Columns of a listing.
const (
	width      = 80
	rowBytes   = 8
	asmColumn  = 2 + 10 + 1 + 3*rowBytes
	noteColumn = asmColumn + 22
)

// A row is one instruction of a listing.
type row struct {
	label string
	code  []byte
	text  string
	note  string
}

// write prints r; bytes and notes for which there is no room get lines of their own.
func (r row) write(w io.Writer) {
	line := fmt.Sprintf("  %-10s %-*s%s", r.label, 3*rowBytes, hexBytes(r.code[:min(len(r.code), rowBytes)]), r.text)
	line = cut(line, width)
	if r.note != "" {
		at := max(noteColumn, len(line)+2)
		if at+2+len(r.note) > width {
			fmt.Fprintln(w, line)
			line, at = "", asmColumn
			if len(r.code) > rowBytes {
				line = rest(r.code)
				r.code = nil
			}
		}
		line = fmt.Sprintf("%-*s; %s", at, line, r.note)
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
	if len(r.code) > rowBytes {
		fmt.Fprintln(w, rest(r.code))
	}
}

// rest is the line of the bytes for which the first has no room.
func rest(code []byte) string { return fmt.Sprintf("  %-10s %s", "", hexBytes(code[rowBytes:])) }

func hexBytes(b []byte) string { return fmt.Sprintf("% x", b) }

// cut shortens s to n columns.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n-2] + ".."
	}
	return s
}

// offset writes an offset in the function.
func offset(n int) string {
	if n < 0 {
		return fmt.Sprintf("-%#x", -n)
	}
	return fmt.Sprintf("+%#x", n)
}

// asm returns the instruction that code begins with, at address addr, as text.
func (p *Place) asm(addr uint64, code []byte) (insn.Inst, string) {
	in, err := insn.Decode(code)
	if err != nil {
		in = insn.Inst{Len: 1}
		return in, "?"
	}
	code = code[:in.Len]
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Len != int(in.Len) || x.Op == 0 {
		return in, "? " + known(&in)
	}
	correct(&x, &in, addr, code)
	text := x86asm.GoSyntax(x, addr, p.symbol)
	if in.Flow.Direct() {
		op, _, _ := strings.Cut(text, " ")
		text = op + " " + p.target(in.Target(addr))
	}
	return in, text
}

// correct fixes what x86asm says unclearly: operands relative to RIP become the
// addresses that they are, with all bits; and there is no 32-bit PUSH.
func correct(x *x86asm.Inst, in *insn.Inst, addr uint64, code []byte) {
	if x.Op == x86asm.PUSH && x.DataSize == 32 {
		x.DataSize = 64
	}
	for i, a := range x.Args {
		if m, ok := a.(x86asm.Mem); ok && in.RIPRel {
			x.Args[i] = x86asm.Mem{Segment: m.Segment, Disp: int64(addr) + int64(in.Len) + in.Disp()}
		}
	}
}

// known is what package insn knows of an instruction that x86asm does not.
func known(in *insn.Inst) string {
	if in.Flow != insn.Next {
		return "(" + in.Flow.String() + ")"
	}
	return ""
}

// target names where a branch leads.
func (p *Place) target(addr uint64) string {
	if off := addr - p.Fn.Addr; off < uint64(len(p.Fn.Code)) {
		return offset(int(off))
	}
	name, base := p.symbol(addr)
	switch {
	case name == "":
		return fmt.Sprintf("%#x", addr)
	case addr == base:
		return name
	}
	return fmt.Sprintf("%s+%#x", name, addr-base)
}

// symbol is Name with the path cut off.
func (p *Place) symbol(addr uint64) (string, uint64) {
	if p.Name == nil {
		return "", 0
	}
	name, base := p.Name(addr)
	path, _, _ := strings.Cut(name, "[")
	return name[strings.LastIndexByte(path, '/')+1:], base
}
