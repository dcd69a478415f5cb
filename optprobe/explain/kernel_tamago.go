//go:build tamago

package explain

import (
	"errors"
	"io"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/attach"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/optprobe"
)

// Explain draws an instruction of the kernel. Nothing is changed.
//
// Errors: those of kprobes.RegisterKprobe.
func Explain(w io.Writer, at attach.Site) error {
	p, err := find(at)
	if err == nil {
		_, err = p.WriteTo(w)
	}
	return err
}

// Slide draws of it what fits a slide.
//
// Context and Errors: as Explain.
func Slide(w io.Writer, at attach.Site) error {
	p, err := find(at)
	if err != nil {
		return err
	}
	return p.Slide(w)
}

// find takes down all that there is to know of a place.
func find(at attach.Site) (*Place, error) {
	off := at.Offset
	if at.Symbol == "" {
		off = at.Addr
	}
	d, err := kprobes.Describe(at.Symbol, uintptr(off))
	p := &Place{Description: d, On: optprobe.Optimization.Get(), Name: name}
	if d.Addr != 0 {
		p.Fn = optprobe.At(d.Addr)
	}
	if errors.Is(err, syscall.EILSEQ) {
		if why := p.Inside(); why != nil {
			return nil, why
		}
	}
	if err != nil {
		return nil, err
	}
	p.Judge()
	p.Live = optprobe.Live(d.Addr, p.Size)
	p.draft()
	return p, nil
}

func name(addr uint64) (string, uint64) {
	name, off, _, _ := kallsyms.Lookup(addr)
	return name, addr - off
}

// draft fills in the detour.
func (p *Place) draft() {
	if len(p.Why) > 0 {
		return
	}
	head, begins := uintptr(0), detour.Call
	if p.Detour != nil {
		head, begins = p.Detour.Head, p.Detour.Begins
	}
	d, code, why := optprobe.Draft(p.Fn, p.Addr, head, p.Size, p.Check, begins)
	if why.Reason != optprobe.Fine {
		p.Why = append(p.Why, why)
		return
	}
	if head != 0 {
		code = optprobe.Live(d.Entry, len(code))
	}
	p.Layout = Layout{
		Entry: uint64(d.Entry), Resume: uint64(d.Resume), Len: uint64(d.Len), Code: code,
	}
}
