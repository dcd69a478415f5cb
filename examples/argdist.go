//go:build tamago

package examples

import (
	"cmp"
	"fmt"
	"io"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/probe/attach"
)

// argdist: which values an argument of a function has, or its result. Go passes the first
// nine words of the arguments, a string being two of them and a slice three, in the registers
// that goabi.Go lists, and results the same way. C has others (goabi.SystemV).
//
//	insmod argdist target=vfs.Read arg=2            the length of its buffer, as a histogram
//	insmod argdist target=vfs.Read arg=0 result=1 count=1     its result, value by value
type argdist struct {
	ready
	most   int
	word   int
	result bool
	count  bool
	hist   tally.Hist
	values *tally.Counts
}

func init() {
	module.Register(&module.Module{
		Name: "argdist",
		Doc:  "histogram or counts of an argument or a result: target=vfs.Read arg=2",
		New:  newArgdist,
	})
}

func newArgdist(name string) *module.Instance {
	d := &argdist{ready: ready{name: name}, most: 20, hist: tally.NewHist(cpu.Num()), values: tally.NewCounts(cpu.Num(), 1, 1024)}
	return d.instance("function, or FILE:FUNCTION of a program", siteOf, module.Params{
		"arg":    module.Int(&d.word, "which word of the arguments or results, from 0"),
		"result": module.Bool(&d.result, "show a word of the results instead of the arguments"),
		"count":  module.Bool(&d.count, "count each value; otherwise a histogram by powers of two"),
		"n":      module.Int(&d.most, "with count: show the n most frequent").Within(1, maxShown),
	}, d.init)
}

func (d *argdist) note(h *attach.Hit) {
	words := d.words(h.Place)
	if d.word >= len(words) {
		return
	}
	if v := words.Get(h.Regs, d.word); d.count {
		d.values.Add(h.CPU(), uintptr(v))
	} else {
		d.hist.Add(h.CPU(), v)
	}
}

func (d *argdist) init(at attach.Site) (err error) {
	o := new(attach.Options)
	if at.Return = d.result; d.result && at.Kind == attach.Kernel {
		o.Active = 64
	}
	if d.word < 0 {
		return refusal.New(syscall.EINVAL, "arg=%d: words are counted from 0", d.word)
	}
	if d.link, err = attach.Attach([]attach.Site{at}, d.note, o); err != nil {
		return err
	}
	for _, p := range d.link.Places() {
		err = cmp.Or(err, d.has(p.Place))
	}
	return d.shown(d.write, err)
}

// has returns an error if the word is in no register at a place.
func (d *argdist) has(p *attach.Place) error {
	words := d.words(p)
	switch {
	case len(words) == 0:
		return refusal.New(syscall.EINVAL, "%s: %s", p.Where, p.Convention.Why())
	case d.word >= len(words):
		return refusal.New(syscall.EINVAL, "arg=%d: only words 0 to %d are in registers", d.word, len(words)-1)
	}
	return nil
}

// words are the registers of the arguments or results at a place.
//
// Context: any.
func (d *argdist) words(p *attach.Place) goabi.Words {
	switch {
	case p.Site.Kind == attach.Kernel:
		return goabi.Go
	case d.result:
		return p.Convention.Results()
	}
	return p.Convention.Args()
}

func (d *argdist) write(w io.Writer) {
	what, l := "argument", d.link.Ledger()
	if d.result {
		what = "result"
	}
	fmt.Fprintf(w, "%s, word %d of its %ss: %s, %d missed\n", d.target, d.word, what, some(l.Handled, "call"), l.Missed()+d.values.Lost())
	if !d.count {
		d.hist.Draw(w)
		return
	}
	all := d.values.All()
	fmt.Fprintf(w, "%10s %20s\n", "COUNT", "VALUE")
	for _, v := range all[:min(len(all), d.most)] {
		fmt.Fprintf(w, "%10d %20d\n", v.Count, int64(v.Key[0]))
	}
}
