//go:build tamago

package explain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/optprobe"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/probe/types"
)

// Explain draws an instruction of the kernel, or lists those of a place that stands for several.
// Nothing is changed.
//
// Errors: those of places.Find and of kprobes.RegisterKprobe.
func Explain(w io.Writer, at attach.Site) error { return explain(w, at, (*Place).draw) }

// Slide draws of it what fits a slide.
//
// Context and Errors: as Explain.
func Slide(w io.Writer, at attach.Site) error { return explain(w, at, (*Place).Slide) }

func (p *Place) draw(w io.Writer) error {
	_, err := p.WriteTo(w)
	return err
}

func explain(w io.Writer, at attach.Site, draw func(*Place, io.Writer) error) error {
	found, err := places.Find(at)
	if err != nil {
		return err
	}
	if len(found.Spots) != 1 || found.Parts > 1 {
		return enumerate(w, at, found)
	}
	p, err := find(found.Spots[0].Site)
	if err != nil {
		return err
	}
	if at.Kind == attach.Inline { // the copy is in a function of another name
		all := func(*places.Spot) bool { return true }
		if _, err := fmt.Fprintf(w, "%s: %s\n\n", at, found.Summary(all)); err != nil {
			return err
		}
	}
	return draw(p, w)
}

// mostListed is how many places are listed: each is looked at as if it were to be probed.
const mostListed = 2000

// enumerate lists the instructions of a place, each with how it would be hit, or why it cannot be.
func enumerate(w io.Writer, at attach.Site, found places.Found) error {
	if n := len(found.Spots); n > mostListed {
		return refusal.New(syscall.E2BIG, "%s is at %d places, more than %d", at, n, mostListed)
	}
	var b bytes.Buffer
	text := found.Summary(func(s *places.Spot) bool {
		p, err := find(s.Site)
		if err != nil {
			fmt.Fprintf(&b, "  %s %s: %s\n", tinted(w, "-", 5), s, err)
			return false
		}
		fmt.Fprintf(&b, "  %s %s\n", tinted(w, p.way(), 5), s)
		return true
	})
	fmt.Fprintf(w, "%s: %s\n", at, text)
	_, err := b.WriteTo(w)
	return err
}

// way says how a probe would be hit.
func (p *Place) way() string {
	if len(p.Why) == 0 && len(p.blockers()) == 0 {
		return "JUMP"
	}
	return "INT3"
}

// find takes down all that there is to know of a place.
func find(at attach.Site) (*Place, error) {
	symbol, off := at.Symbol, at.Offset
	if at.Addr != 0 {
		symbol, off = "", at.Addr
	}
	d, err := kprobes.Describe(symbol, uintptr(off))
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
	if t, call, err := types.Function(uint64(d.Func)); err == nil {
		p.Args, p.Results = t.Text(call)
		p.Signed = true
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
	var d detour.Detour
	var code []byte
	if p.Detour != nil {
		d = *p.Detour
		code = optprobe.Live(d.Entry, int(d.End-d.Entry))
	} else {
		var why optprobe.Obstacle
		if d, code, why = optprobe.Draft(p.Fn, p.Addr, p.Size, p.Check, detour.Call); why.Reason != optprobe.Fine {
			p.Why = append(p.Why, why)
			return
		}
	}
	p.Layout = Layout{
		Entry: uint64(d.Entry), Resume: uint64(d.Resume), Len: uint64(d.Len), Code: code,
		Slow: uint64(d.Slow), Fused: uint64(d.Fused), Past: uint64(d.Past),
	}
	if d.Apart != 0 && d.Fused != 0 {
		p.Layout.Apart = optprobe.Live(d.Slow, int(d.Past-d.Slow))
	}
}
