//go:build tamago

package shell

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"syscall"

	"sonde/bpf"
	kbpf "sonde/kernel/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

var bpfCommand = &Command{
	Name:  "bpf",
	Usage: "asm FILE PLACE... | prog [ID] | map [ID.INDEX] | link | rm ID...",
	Help:  "run programs at probes: load a text of instructions (asm) and attach it to places; list programs, maps and links, or print one",
	Run: func(c *Context, args []string) error {
		if len(args) == 0 {
			return Usagef("give asm, prog, map, link or rm")
		}
		run, rest := bpfParts[args[0]], args[1:]
		switch {
		case run == nil:
			return Usagef("%q is none of asm, prog, map, link, rm", args[0])
		case args[0] == "link" && len(rest) > 0, (args[0] == "prog" || args[0] == "map") && len(rest) > 1:
			return Usagef("too many arguments")
		}
		return run(c.Out, rest)
	},
}

var bpfParts = map[string]func(out io.Writer, args []string) error{
	"asm": bpfAsm, "prog": bpfProg, "map": bpfMap, "link": bpfLinks, "rm": bpfRemove,
}

// maxProgram is how long the text of a program may be, in bytes.
const maxProgram = 1 << 20

// bpfAsm loads the program in a file, and attaches it.
func bpfAsm(out io.Writer, args []string) error {
	if len(args) < 2 {
		return Usagef("give a file and at least one place")
	}
	if st, err := vfs.Stat(args[0]); err == nil && st.Size() > maxProgram {
		return refusal.New(syscall.EFBIG, "%s has more than %d bytes", args[0], maxProgram)
	}
	text, err := vfs.ReadFile(args[0])
	if err != nil {
		return err
	}
	name := path.Base(args[0])
	p, maps, err := kbpf.Assemble(strings.TrimSuffix(name, path.Ext(name)), string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	prog, err := kbpf.Load(p, maps)
	for _, m := range maps {
		m.Close() // they stay as long as the program
	}
	if err != nil {
		return err
	}
	if _, err := prog.Attach("bpf", args[1:]...); err != nil {
		prog.Close()
		return err
	}
	return printProg(out, prog)
}

func printProg(out io.Writer, p *kbpf.Prog) error {
	_, size := p.Code()
	c := p.Checked
	_, err := fmt.Fprintf(out, "%d: %s %s  instructions %d  worst %d  stack %d  code %d  maps %d  links %d  recursion %d\n",
		p.ID, c.Program.Type, c.Program.Name, len(c.Insns), c.Worst, c.Stack, size, len(p.Maps()), len(p.Links()), p.Recursion())
	return err
}

// bpfProg lists the programs, or prints the instructions of one.
func bpfProg(out io.Writer, args []string) error {
	if len(args) == 0 {
		for _, p := range kbpf.Programs() {
			if err := printProg(out, p); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := progOf(args[0])
	if err != nil {
		return err
	}
	insns := p.Checked.Insns
	for pc := 0; pc < len(insns); pc++ {
		text, err := bpf.Text(insns, pc)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%016x %4d: %s\n", p.At(pc), pc, text); err != nil {
			return err
		}
		if insns[pc].IsWide() {
			pc++
		}
	}
	return nil
}

func progOf(id string) (*kbpf.Prog, error) {
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil, Usagef("%q is no number of a program", id)
	}
	p := kbpf.Find(n)
	if p == nil {
		return nil, refusal.New(syscall.ENOENT, "there is no program %d", n)
	}
	return p, nil
}

// bpfMap lists the maps, or prints what is in one.
func bpfMap(out io.Writer, args []string) error {
	if len(args) > 0 {
		return printMap(out, args[0])
	}
	for _, p := range kbpf.Programs() {
		for i, m := range p.Maps() {
			s := m.Spec
			if _, err := fmt.Fprintf(out, "%d.%d: %s %s  key %d  value %d  entries %d  bytes %d  lost %d\n",
				p.ID, i, s.Type, s.Name, s.KeySize, s.ValueSize, s.MaxEntries, m.Bytes(), m.Lost()); err != nil {
				return err
			}
		}
	}
	return nil
}

func printMap(out io.Writer, name string) error {
	id, index, _ := strings.Cut(name, ".")
	i, err := strconv.Atoi(index)
	if err != nil {
		return Usagef("%q is no map: give ID.INDEX, as in the list", name)
	}
	p, err := progOf(id)
	if err != nil {
		return err
	}
	if i < 0 || i >= len(p.Maps()) {
		return refusal.New(syscall.ENOENT, "program %s has no map %d", id, i)
	}
	m := p.Maps()[i]
	if m.Ring() != nil {
		return printRecords(out, m)
	}
	for cpu := range m.Tables() {
		at := ""
		if m.Tables() > 1 {
			at = fmt.Sprintf("CPU %d  ", cpu)
		}
		m.Range(cpu, func(key, value []byte) bool {
			_, err = fmt.Fprintf(out, "%skey %s  value %s\n", at, number(key), number(value))
			return err == nil
		})
	}
	return err
}

// printRecords takes all records that are in a ring.
func printRecords(out io.Writer, m *kbpf.Map) error {
	for {
		rec, ok := m.Take(nil)
		if !ok {
			return nil
		}
		if _, err := fmt.Fprintf(out, "%d.%09d CPU %d  %x\n", rec.When/1e9, rec.When%1e9, rec.CPU, rec.Data); err != nil {
			return err
		}
	}
}

// number prints up to 8 bytes as a number, and more as they are.
func number(b []byte) string {
	if len(b) > 8 {
		return fmt.Sprintf("%x", b)
	}
	n := uint64(0)
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return strconv.FormatUint(n, 10)
}

// bpfLinks lists where programs are attached.
func bpfLinks(out io.Writer, _ []string) error {
	for _, p := range kbpf.Programs() {
		for _, l := range p.Links() {
			for _, at := range l.Places() {
				if _, err := fmt.Fprintf(out, "%d: %s  %s  handled %d  unexplained %d\n", p.ID, at.Where, at.Way, at.Ledger.Handled, at.Ledger.Unexplained()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bpfRemove detaches programs, and frees what they have.
func bpfRemove(_ io.Writer, args []string) error {
	if len(args) == 0 {
		return Usagef("give the numbers of programs")
	}
	for _, id := range args {
		p, err := progOf(id)
		if err != nil {
			return err
		}
		p.Close()
	}
	return nil
}
