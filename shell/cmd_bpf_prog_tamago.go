//go:build tamago && !noprobe

package shell

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/arch/amd64/listing"
	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/probe/program"
)

// bpfAsm loads the program in a file of text, and attaches it.
func bpfAsm(c *Context, args []string) error {
	if len(args) < 2 {
		return Usagef("give a file and at least one place")
	}
	name, text, err := bpfRead(c.path(args[0]))
	if err != nil {
		return err
	}
	p, maps, err := program.Assemble(name, string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	prog, err := program.Load(p, maps, nil)
	for _, m := range maps {
		m.Close() // they stay as long as the program
	}
	if err != nil {
		return err
	}
	if _, err := prog.AttachTo(&program.Options{Options: attach.Options{Owner: "bpf"}}, args[1:]...); err != nil {
		prog.Close()
		return err
	}
	return printProg(c.Out, prog)
}

// bpfProgs prints one program, or all.
func bpfProgs(c *Context, args []string) error {
	all, err := bpfNamed(program.Programs(), bpfProgOf, args)
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := printProg(c.Out, p); err != nil {
			return err
		}
	}
	return nil
}

func printProg(out io.Writer, p *program.Prog) error {
	_, code := p.Code()
	c, a := p.Checked, p.Account()
	gpl := ""
	if c.Program.GPL {
		gpl = "  gpl"
	}
	fmt.Fprintf(out, "%d: %s  name %s  tag %s%s  worst %d  run_cnt %d  recursion_misses %d\n",
		p.ID, c.Program.Type, c.Program.Name, p.Tag(), gpl, c.Worst, a.Run, a.Recursion)
	fmt.Fprintf(out, "\tloaded_at %s  xlated %dB  jited %dB  stack %dB%s%s\n", p.LoadedAt.UTC().Format(time.RFC3339),
		bpf.InsnBytes*len(c.Insns), len(code), c.Stack, ids("  map_ids ", p.Maps(), func(m *program.Map) int { return m.ID }),
		ids("  link_ids ", p.Links(), func(l *program.Link) int { return l.ID }))
	fmt.Fprintf(out, "\tfused %s\n", fusedText(p))
	if n := p.Budget(); n > 0 {
		fmt.Fprintf(out, "\tbudget %.1f%%  throttled %d\n", float64(n)/10, a.Throttled)
	}
	return printPins(out, p)
}

// fusedText says at how many of its places a program is fused with what is executed there, or why it cannot be.
func fusedText(p *program.Prog) string {
	if err := p.Fusible(); err != nil {
		return "no: " + err.Error()
	}
	fused, all := 0, 0
	for _, l := range p.Links() {
		for _, at := range l.Places() {
			if all++; at.Way == "fused" {
				fused++
			}
		}
	}
	return fmt.Sprintf("at %d of %d places", fused, all)
}

func bpfBudget(_ *Context, args []string) error {
	p, rest, err := bpfProgOf(args)
	switch {
	case err != nil:
		return err
	case len(rest) != 1:
		return Usagef("give a program and the share of a CPU, in percent")
	}
	return setBudget(p, rest[0])
}

// setBudget sets a budget that is given in percent.
func setBudget(p *program.Prog, percent string) error {
	share, err := strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
	if err != nil || !(share >= 0 && share <= 100) || share > 0 && share < 0.1 {
		return Usagef("%q is no share of a CPU: give 0.1 to 100 percent, or 0 for all that it takes", percent)
	}
	return p.SetBudget(int(share*10 + 0.5))
}

// ids lists numbers after a word, or is "" if there are none.
func ids[T any](word string, all []T, id func(T) int) string {
	var list []string
	for _, o := range all {
		list = append(list, fmt.Sprint(id(o)))
	}
	if list == nil {
		return ""
	}
	return word + strings.Join(list, ",")
}

func printPins(out io.Writer, o program.Object) error {
	for _, file := range program.Pins(o) {
		if _, err := fmt.Fprintf(out, "\tpinned %s\n", file); err != nil {
			return err
		}
	}
	return nil
}

// bpfXlated prints the instructions of a program, with the lines of its source if they are known.
func bpfXlated(c *Context, args []string) error {
	p, rest, err := bpfProgOf(args)
	if err := bpfEnd(rest, err); err != nil {
		return err
	}
	for pc := 0; pc < len(p.Checked.Insns); pc++ {
		printLine(c.Out, p, pc)
		if _, err := fmt.Fprintf(c.Out, "%4d: (%02x) %s\n", pc, p.Checked.Insns[pc].Op, insnText(p, pc)); err != nil {
			return err
		}
		if p.Checked.Insns[pc].IsWide() {
			pc++
		}
	}
	return nil
}

// printLine prints the line of the source that begins at an instruction.
func printLine(out io.Writer, p *program.Prog, pc int) {
	if l := p.Checked.Program.LineOf(pc); l != nil && l.PC == pc {
		fmt.Fprintf(out, "; %s @ %s:%d\n", cmp.Or(l.Text, "?"), l.File, l.Number)
	}
}

// insnText is an instruction, with maps by their numbers.
func insnText(p *program.Prog, pc int) string {
	insns := p.Checked.Insns
	text, err := bpf.Text(insns, pc)
	if err != nil {
		return err.Error()
	}
	in := insns[pc]
	if i := int(in.Imm); in.IsWide() && (in.Src() == bpf.MapIdx || in.Src() == bpf.MapIdxVal) && i < len(p.Maps()) {
		text = strings.Replace(text, fmt.Sprintf("map[idx:%d]", i), fmt.Sprintf("map[id:%d]", p.Maps()[i].ID), 1)
	}
	return text
}

// bpfJited prints the machine code of a program beside its instructions.
func bpfJited(c *Context, args []string) error {
	p, rest, err := bpfProgOf(args)
	if err := bpfEnd(rest, err); err != nil {
		return err
	}
	at, code := p.Code()
	fmt.Fprintf(c.Out, "bpf_prog_%s: %d bytes at %#x\n", p.Checked.Program.Name, len(code), at)
	f := listing.Function{Addr: uint64(at), Size: uint64(len(code)), Name: func(addr uint64) (string, uint64) {
		name, off, _, _ := kallsyms.Lookup(addr)
		return name, addr - off
	}}
	last := -1
	for off := 0; off < len(code); {
		in, text := f.Asm(uint64(at)+uint64(off), code[off:])
		insn := ""
		if pc, ok := p.PC(off); ok && pc != last && p.At(pc) == at+uintptr(off) {
			printLine(c.Out, p, pc)
			insn, last = fmt.Sprintf("%4d: %s", pc, insnText(p, pc)), pc
		}
		if _, err := fmt.Fprintf(c.Out, "%-44s %5s  %-30s  %s\n", insn, listing.Offset(off), listing.Bytes(code[off:off+int(in.Len)]), text); err != nil {
			return err
		}
		off += int(in.Len)
	}
	return nil
}

// bpfRemove detaches programs, and frees what they have.
func bpfRemove(_ *Context, args []string) error {
	if len(args) == 0 {
		return Usagef("give the numbers of programs")
	}
	for len(args) > 0 {
		p, rest, err := bpfProgOf(args)
		if err != nil {
			return err
		}
		err = bpfUnpinned(p)
		for _, l := range p.Links() {
			err = cmp.Or(bpfUnpinned(l), err)
		}
		if err != nil {
			return err
		}
		p.Close()
		args = rest
	}
	return nil
}
