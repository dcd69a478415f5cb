//go:build tamago

package explain

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/optprobe"
)

// Explain draws the place that is called SYMBOL, SYMBOL+OFFSET or by its address.
// Nothing is changed.
//
// Errors: those of kprobes.RegisterKprobe.
func Explain(w io.Writer, place string) error {
	p, err := find(place)
	if err == nil {
		_, err = p.WriteTo(w)
	}
	return err
}

// Slide draws of it what fits a slide.
//
// Context and Errors: as Explain.
func Slide(w io.Writer, place string) error {
	p, err := find(place)
	if err != nil {
		return err
	}
	return p.Slide(w)
}

// find takes down all that there is to know of a place.
func find(place string) (*Place, error) {
	symbol, off := split(place)
	d, err := kprobes.Describe(symbol, off)
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

// split takes a place apart. The offset may be followed by the function's size,
// as in traces: "+0x12/0x34".
func split(place string) (symbol string, off uintptr) {
	if addr, err := strconv.ParseUint(place, 0, 64); err == nil {
		return "", uintptr(addr)
	}
	at := strings.LastIndexByte(place, '+')
	if at < 0 {
		return place, 0
	}
	number, _, _ := strings.Cut(place[at+1:], "/")
	n, err := strconv.ParseUint(number, 0, 32)
	if err != nil {
		return place, 0 // a symbol that is unknown
	}
	return place[:at], uintptr(n)
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
