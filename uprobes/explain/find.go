package explain

import (
	"fmt"
	"io"
	"syscall"

	"sonde/kernel/attach"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/uprobes"
	"sonde/uprobes/images"
)

// codeSize is enough for an instruction.
const codeSize = 15

// File draws a place of a program's file.
//
// Errors: those of opening it; ENOEXEC, ENOENT, EADDRNOTAVAIL, EINVAL as package program.
func File(w io.Writer, at attach.Site) error {
	p := &Place{Path: at.File, Title: at.String()}
	err := program.Read(p.Path, func(f *program.File) (err error) {
		if p.Addr, err = resolve(f, at); err == nil {
			p.Code, err = code(f, p.Addr)
		}
		if err == nil {
			p.fill(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range uprobes.All() {
		if i.Place == fmt.Sprintf("%s:%#x", at.File, p.Offset) {
			p.Probes = append(p.Probes, i)
		}
	}
	_, err = p.WriteTo(w)
	return err
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

// resolve returns the address that a place has in its file.
func resolve(f *program.File, at attach.Site) (uint64, error) {
	if at.Symbol == "" {
		addr, ok := f.Vaddr(at.Offset)
		if !ok {
			return 0, refusal.New(syscall.EINVAL, "there is no code at offset %#x", at.Offset)
		}
		return addr, nil
	}
	s, err := f.Lookup(at.Symbol)
	if err != nil {
		return 0, fmt.Errorf("%w in %s", err, at.File)
	}
	if at.Offset >= max(s.Size, 1) {
		return 0, refusal.New(syscall.EINVAL, "offset %#x is beyond the end of %s, which has %#x bytes", at.Offset, s.Name, s.Size)
	}
	return s.Addr + at.Offset, nil
}
