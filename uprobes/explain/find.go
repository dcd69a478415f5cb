package explain

import (
	"fmt"
	"io"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/attach"
	"sonde/uprobes"
	"sonde/uprobes/images"
)

// codeSize is enough for an instruction.
const codeSize = 15

// File draws a place of a program's file; if its name stands for several functions, that in each of them.
//
// Errors: those of opening it; ENOEXEC it is no program; those of program.File.Find; EFAULT.
func File(w io.Writer, at attach.Site) error {
	var all []*Place
	err := program.Read(at.File, func(f *program.File) error {
		spots, err := f.Find(at.Symbol, at.Offset)
		if err != nil {
			return fmt.Errorf("%w in %s", err, at.File)
		}
		for _, spot := range spots {
			p := &Place{Path: at.File, Title: at.String(), Addr: spot.Addr}
			if p.Code, err = code(f, p.Addr); err != nil {
				return err
			}
			p.fill(f)
			all = append(all, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(all) > 1 {
		fmt.Fprintf(w, "%d functions are called %s.\n\n", len(all), at.Symbol)
	}
	for i, p := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, probe := range uprobes.All() {
			if probe.Place == fmt.Sprintf("%s:%#x", at.File, p.Offset) {
				p.Probes = append(p.Probes, probe)
			}
		}
		if _, err = p.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// Address draws a place of a process.
//
// Errors: EFAULT nothing is mapped there.
func Address(w io.Writer, in *proc.Process, addr uint64) error {
	p := &Place{Path: "no file", Addr: addr, Title: fmt.Sprintf("%s[%d]", in.Name(), in.PID)}
	mem := in.Memory()
	if mem == nil {
		return refusal.New(syscall.ESRCH, "process %d has ended", in.PID)
	}
	p.Code = make([]byte, codeSize)
	n, err := mem.Text(p.Code, addr)
	if n == 0 {
		return err
	}
	p.Code = p.Code[:n]
	a, _ := mem.At(addr)
	if a.Ident.Name != "" {
		p.Path, p.Offset = a.Ident.Name, a.Offset+addr-a.Start
	}
	program.Read(p.Path, func(f *program.File) error { // if it fails, there is less to say
		if bias, ok := f.Bias(a.Start, a.Offset); ok {
			p.Bias = bias
			p.fill(f)
			p.Title += " " + f.String(addr-bias)
		}
		return nil
	})
	for _, i := range uprobes.All() {
		if i.Pid == in.PID && i.Vaddr == addr {
			p.Probes = append(p.Probes, i)
		}
	}
	p.Slot = uprobes.SlotOf(in, addr)
	_, err = p.WriteTo(w)
	return err
}

// fill fills in what the file knows. Addr and Bias are known.
func (p *Place) fill(f *program.File) {
	addr := p.Addr - p.Bias
	p.Offset, _ = f.Offset(addr)
	p.Name = func(a uint64) (string, uint64) {
		s, _, ok := f.At(a)
		if !ok {
			return "", 0
		}
		return s.Name, s.Addr
	}
	s, _, ok := f.At(addr)
	if !ok {
		return
	}
	p.Fn, p.Check = s, f.Check(s)
	p.Body, _ = f.Code(s.Addr, s.Size)
	p.Returns, p.Leaves, _ = f.Returns(s)
	p.ReturnsBy = images.ReturnsOf(f, s.Addr)
	p.Boundary = f.Boundary(addr)
}

// code reads what may be an instruction.
func code(f *program.File, addr uint64) ([]byte, error) {
	for n := uint64(codeSize); ; n-- {
		if b, err := f.Code(addr, n); err == nil || n == 1 {
			return b, err
		}
	}
}
