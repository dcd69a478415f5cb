//go:build tamago

package examples

import (
	"fmt"
	"io"
	"syscall"
	"time"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/kernel/vfs/ctl"
)

// argdist: which values an argument of a function has, or its result. Go passes the first
// nine words of the arguments, a string being two of them and a slice three, in the registers
// that goabi.Go lists, and results the same way.
//
//	insmod argdist target=vfs.Read arg=2            the length of its buffer, as a histogram
//	insmod argdist target=vfs.Read arg=0 result=1 count=1     its result, value by value
type argdist struct {
	name     string
	target   string
	interval int
	most     int
	word     int
	result   bool
	count    bool
	hist     tally.Hist
	values   *tally.Counts
	regs     goabi.Words // registers to read in calls of the target
	link     *attach.Link
	show     *ctl.Show
}

func init() {
	module.Register(&module.Module{
		Name: "argdist",
		Doc:  "histogram or counts of an argument or a result: target=vfs.Read arg=2",
		New:  newArgdist,
	})
}

func newArgdist(name string) *module.Instance {
	d := &argdist{name: name, most: 20, hist: tally.NewHist(cpu.Num()), values: tally.NewCounts(cpu.Num(), 1, 1024)}
	return &module.Instance{
		Params: module.Params{
			"target":   module.String(&d.target, "function, or FILE:FUNCTION of a program").Valid(validTarget),
			"arg":      module.Int(&d.word, "which word of the arguments or results, from 0"),
			"result":   module.Bool(&d.result, "show a word of the results instead of the arguments"),
			"count":    module.Bool(&d.count, "count each value; otherwise a histogram by powers of two"),
			"interval": module.Int(&d.interval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&d.most, "with count: show the n most frequent").Within(1, maxShown),
		},
		Init: d.init,
		Exit: d.exit,
	}
}

func (d *argdist) note(h *attach.Hit) {
	if v := d.regs.Get(h.Regs, d.word); d.count {
		d.values.Add(h.CPU(), uintptr(v))
	} else {
		d.hist.Add(h.CPU(), v)
	}
}

func (d *argdist) init() (err error) {
	if d.target == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	at, err := siteOf(d.target)
	if err != nil {
		return err
	}
	if d.regs, err = d.registers(at); err != nil {
		return err
	}
	if d.word < 0 || d.word >= len(d.regs) {
		return refusal.New(syscall.EINVAL, "arg=%d: only words 0 to %d are in registers", d.word, len(d.regs)-1)
	}
	o := new(attach.Options)
	if at.Return = d.result; d.result && at.Kind == attach.Kernel {
		o.Active = 64
	}
	if d.link, err = attach.Attach([]attach.Site{at}, d.note, o); err != nil {
		return err
	}
	if d.show, err = ctl.NewShow(d.name, time.Duration(d.interval)*time.Second, d.write); err != nil {
		d.link.Close()
	}
	return err
}

// registers returns the registers of the target's arguments or results.
func (d *argdist) registers(at attach.Site) (regs goabi.Words, err error) {
	if at.Kind == attach.Kernel {
		return goabi.Go, nil
	}
	if programs == nil {
		return nil, errNoPrograms(at.File)
	}
	isGo, err := programs.isGo(at.File)
	switch {
	case isGo:
		regs = goabi.Go
	case d.result:
		regs = goabi.SystemVResults
	default:
		regs = goabi.SystemV
	}
	return regs, err
}

func (d *argdist) exit() {
	d.link.Close()
	d.show.End()
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
