package program

import (
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// A program's door is where its func value leads to: to its code, or by one of two others, which are made
// when they are first needed. They stay as long as the program, since a goroutine may be on its way
// through one.
//
//	p.door ─┬─▶ code
//	        ├─▶ metered: less credit? ─▶ code     no credit ─▶ helpMeter ─▶ code
//	        └─▶ held: counted, and nothing else
//
// So what is neither metered nor held pays nothing for it.
type doors struct {
	meters []meter // by CPU
	budget atomic.Int64

	// guarded by Prog.mu:
	watchers int  // who wants it metered
	watched  bool // tell runs
	holding  bool // it does not run
	always   bool // it has been metered since before it could be hit
}

// makeDoors makes the doors, if there are none. Called with mu held.
func (p *Prog) makeDoors() error {
	switch {
	case p.gone:
		return refusal.New(syscall.EBADF, "program %s is closed", p.Checked.Program.Name)
	case p.metered != 0:
		return nil // then all have them
	}
	if p.meters == nil {
		p.meters = make([]meter, cpus())
	}
	for _, v := range p.versions() {
		if v != nil && v.metered == 0 { // some may have doors of an attempt that failed
			if err := v.makeDoors(); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeDoors makes those of one version. Errors: ENOMEM.
func (v *version) makeDoors() error {
	at, err := code.take(len(v.doorCode(0)))
	if err != nil {
		return err
	}
	writeCode(at, v.doorCode(at))
	v.metered, v.held = at, at+doorSize
	return nil
}

// choose sets the door of each version. When it returns, no CPU is in code that goes by no door, but where there is
// none to go by. Called with mu held.
func (p *Prog) choose() {
	for _, v := range p.versions() {
		if v == nil {
			continue
		}
		to := v.entry
		switch {
		case p.holding:
			to = v.held
		case p.watchers > 0 || p.budget.Load() != 0:
			to = v.metered
		}
		atomic.StoreUintptr(&v.door, to)
	}
	for _, l := range p.links {
		l.Parts.Refit()
	}
}

// Watch has one hit in 64 measured on each CPU, until the function that it returns is called.
//
// Errors: ENOMEM, EBADF.
func (p *Prog) Watch() (stop func(), err error) {
	if err := p.setDoor(func() { p.watchers++ }); err != nil {
		return nil, err
	}
	return func() { p.setDoor(func() { p.watchers-- }) }, nil
}

// SetBudget allows the program a part of each CPU's time, in thousandths; 0: as much as it takes. Beyond
// that, hits are throttled. It is measured from now on.
//
// Errors: EINVAL, ENOMEM, EBADF.
func (p *Prog) SetBudget(thousandths int) error {
	if thousandths < 0 || thousandths > 1000 {
		return refusal.New(syscall.EINVAL, "a budget of %d thousandths of a CPU: give 0 to 1000", thousandths)
	}
	return p.setDoor(func() {
		p.budget.Store(int64(thousandths) * period / 1000)
		if !p.watched && thousandths > 0 {
			p.watched = true
			go p.tell()
		}
	})
}

// tell logs that hits are throttled when that has happened for the first time. A hit itself cannot: to make
// a text, it would have to save more registers.
func (p *Prog) tell() {
	for at := time.NewTicker(100 * time.Millisecond); ; <-at.C {
		throttled := p.Costs()
		p.mu.Lock()
		gone := p.gone
		p.mu.Unlock()
		if slices.ContainsFunc(throttled, func(c Cost) bool { return c.Throttled > 0 }) {
			printk.Warn("bpf: %s takes more than its budget of %d thousandths of a CPU: hits are throttled (tracetop)", p.String(), p.Budget())
			gone = true
		}
		if gone {
			at.Stop()
			return
		}
	}
}

// Budget is what SetBudget was given.
func (p *Prog) Budget() (thousandths int) { return int(p.budget.Load() * 1000 / period) }

// Hold lets hits be counted, but not run the program, or ends that.
//
// Errors: ENOMEM, EBADF.
func (p *Prog) Hold(on bool) error { return p.setDoor(func() { p.holding = on }) }

func (p *Prog) setDoor(change func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.makeDoors(); err != nil {
		return err
	}
	change()
	if len(p.links) == 0 && p.past.Entered == 0 {
		p.always = p.budget.Load() != 0
	}
	if p.watchers == 0 && p.budget.Load() == 0 {
		p.always = false
	}
	p.choose()
	return nil
}

// Cost is what one CPU has measured of a program.
type Cost struct {
	Entered   uint64 // hits that were metered and came in, those inside of other programs included
	Measured  uint64 // hits
	Spent     uint64 // ns, of those that were measured
	Throttled uint64 // hits that did not come in
	Idle      uint64 // hits while the program was held
}

// Costs returns what each CPU has measured; nil: the program was never metered.
func (p *Prog) Costs() (all []Cost) {
	for i := range p.meters {
		m := &p.meters[i]
		c := Cost{Measured: atomic.LoadUint64(&m.measured), Spent: atomic.LoadUint64(&m.spent), Throttled: atomic.LoadUint64(&m.throttled), Idle: atomic.LoadUint64(&m.idle)}
		c.Entered = m.entered()
		all = append(all, c)
	}
	return all
}

// entered is how many hits have come in.
func (m *meter) entered() uint64 {
	for {
		granted, credit := atomic.LoadUint64(&m.granted), atomic.LoadInt64(&m.credit)
		if granted == atomic.LoadUint64(&m.granted) { // else the credit may be of other hits than those
			return granted - min(granted, uint64(max(0, credit)))
		}
	}
}

// PerHit is what a hit takes, in ns.
func (c Cost) PerHit() float64 {
	if c.Measured == 0 {
		return 0
	}
	return float64(c.Spent) / float64(c.Measured)
}

// Plus returns the sum of both.
func (c Cost) Plus(o Cost) Cost {
	return Cost{c.Entered + o.Entered, c.Measured + o.Measured, c.Spent + o.Spent, c.Throttled + o.Throttled, c.Idle + o.Idle}
}

// Less returns what came since o.
func (c Cost) Less(o Cost) Cost {
	return Cost{c.Entered - o.Entered, c.Measured - o.Measured, c.Spent - o.Spent, c.Throttled - o.Throttled, c.Idle - o.Idle}
}
