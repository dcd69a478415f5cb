// Package listing prints instructions, one row each, with offset, bytes, text and a note.
//
// The text comes from x/arch/x86/x86asm. Package insn decides where instructions begin; if x86asm
// finds another length, or no instruction, the text is "?".
package listing

import (
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"

	"golang.org/x/arch/x86/x86asm"
)

// Width is how many columns a listing has.
const Width = 80

// Columns.
const (
	width      = Width
	rowBytes   = 8
	asmColumn  = 2 + 10 + 1 + 3*rowBytes
	noteColumn = asmColumn + 22
)

// A Row is one instruction of a listing.
type Row struct {
	Label string
	Code  []byte
	Text  string
	Note  string
}

// A Function is the function whose instructions are printed: branches inside it are shown as
// offsets.
type Function struct {
	Addr, Size uint64
	// Name returns the symbol that contains addr and its start; "": none. It may be nil.
	Name func(addr uint64) (name string, base uint64)
}

// Write prints r; bytes and notes that do not fit get lines of their own.
func (r Row) Write(w io.Writer) {
	line := fmt.Sprintf("  %-10s %-*s%s", r.Label, 3*rowBytes, Bytes(r.Code[:min(len(r.Code), rowBytes)]), r.Text)
	line = Cut(line, width)
	if r.Note != "" {
		at := max(noteColumn, len(line)+2)
		if at+2+len(r.Note) > width {
			fmt.Fprintln(w, line)
			line, at = "", asmColumn
			if len(r.Code) > rowBytes {
				line = rest(r.Code)
				r.Code = nil
			}
		}
		line = fmt.Sprintf("%-*s; %s", at, line, r.Note)
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
	if len(r.Code) > rowBytes {
		fmt.Fprintln(w, rest(r.Code))
	}
}

// rest is the line of the bytes that do not fit the first line.
func rest(code []byte) string { return fmt.Sprintf("  %-10s %s", "", Bytes(code[rowBytes:])) }

// Bytes prints bytes.
func Bytes(b []byte) string { return fmt.Sprintf("% x", b) }

// Cut shortens s to n columns.
func Cut(s string, n int) string {
	if len(s) > n {
		return s[:n-2] + ".."
	}
	return s
}

// Offset formats an offset in the function.
func Offset(n int) string {
	if n < 0 {
		return fmt.Sprintf("-%#x", -n)
	}
	return fmt.Sprintf("+%#x", n)
}

// Asm returns the instruction at the start of code, which is at address addr, as text.
func (f *Function) Asm(addr uint64, code []byte) (insn.Inst, string) {
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
	text := x86asm.GoSyntax(x, addr, f.symbol)
	if in.Flow.Direct() {
		op, _, _ := strings.Cut(text, " ")
		text = op + " " + f.target(in.Target(addr))
	}
	return in, text
}

// correct fixes x86asm's text: RIP-relative operands become full addresses, and there is no 32-bit
// PUSH.
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

// known is the text of an instruction that package insn knows and x86asm does not.
func known(in *insn.Inst) string {
	if in.Flow != insn.Next {
		return "(" + in.Flow.String() + ")"
	}
	return ""
}

// target names the target of a branch.
func (f *Function) target(addr uint64) string {
	if off := addr - f.Addr; off < f.Size {
		return Offset(int(off))
	}
	name, base := f.symbol(addr)
	switch {
	case name == "":
		return fmt.Sprintf("%#x", addr)
	case addr == base:
		return name
	}
	return fmt.Sprintf("%s+%#x", name, addr-base)
}

// symbol is Name without the path.
func (f *Function) symbol(addr uint64) (string, uint64) {
	if f.Name == nil {
		return "", 0
	}
	name, base := f.Name(addr)
	return kallsyms.Base(name), base
}
