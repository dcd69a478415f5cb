// Package run loads the programs of a script, attaches them, prints their output, and removes them
// again.
//
//	maps, programs ── attach all, or none ── BEGIN ── until exit(), ^C or the command's end ── END ── maps
//
// Programs do nothing until a word in the script's first map is set, and nothing when it is cleared: so all
// probes of a script begin and end together.
package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/kernel/grace"
	"sonde/probe/attach"
	"sonde/probe/program"
	"sonde/trace/export"
	"sonde/trace/lang"
	"sonde/trace/out"
)

// Options are a script, and how it is to run.
type Options struct {
	Unit   *lang.Unit
	Places func(p *lang.Point) ([]attach.Site, error) // where a point is
	Out    *out.Printer
	Err    io.Writer   // what is lost, and why a place has no probe
	Quiet  bool        // nothing about the probes
	Export export.Sink // instead of printing; nil: print
	Verify bool        // load everything, attach nothing
	Ledger bool        // say what was hit even if nothing was lost
	Unsafe bool        // programs may send signals
	Budget int         // thousandths of each CPU's time that a probe may take; 0: as much as it needs

	Settle    func()                               // has probes get the form in which they stay, before the script counts; nil: the script counts also what is done for it
	Users     Users                                // nil: addresses of programs are numbers
	Now       func() int64                         // the clock of nsecs
	Code      int                                  // set by Run: what exit() was given
	Interrupt <-chan struct{}                      // ^C
	Command   func(count func(on bool)) <-chan int // starts what the script runs along with, which counts from count(true) on; its end gives Code; nil: nothing
}

// session is a script that runs.
type session struct {
	*Options
	maps      []*program.Map
	progs     []*program.Prog
	specs     []*bpf.MapSpec
	probes    int
	seen      uint64     // records
	mu        sync.Mutex // the command counts, too
	key       []byte     // of the first map, for control; guarded by mu
	words     []byte     // its value; guarded by mu
	intervals []time.Duration
	ended     bool   // exit() was called
	self      uint64 // the goroutine that prints; 0: it counts like others
	pid       int    // whose stack is being printed; 0: of no process

	speculations out.Speculations
}

// Run runs a script to its end.
//
// Errors: *lang.Error, if the verifier refuses a program or a place cannot have a probe; those of the maps
// and of writing. Nothing is left in any case.
func Run(o *Options) error {
	s := &session{Options: o}
	if o.Settle != nil {
		s.self = program.Self()
	}
	defer s.close()
	o.Out.Symbols = s
	if err := s.load(); err != nil || o.Verify {
		return err
	}
	if err := s.attach(); err != nil {
		return err
	}
	if !o.Quiet && o.Export == nil {
		if err := o.Out.Attached(s.probes); err != nil {
			return err
		}
	}
	s.control(lang.ControlStart, uint64(o.Now()))
	if err := s.once("begin"); err != nil {
		return err
	}
	interrupted, err := s.wait()
	if err != nil {
		return err
	}
	return s.end(interrupted)
}

// load makes the maps and the programs.
func (s *session) load() error {
	for _, spec := range s.Unit.Specs {
		m, err := program.NewMap(*spec)
		if err != nil {
			return err
		}
		s.maps, s.specs = append(s.maps, m), append(s.specs, &m.Spec)
	}
	for i, p := range s.Unit.Programs {
		kind := bpf.Kprobe
		if p.Target.Record {
			kind = bpf.Tracepoint
		}
		prog, err := program.Load(&bpf.Program{Name: fmt.Sprintf("bt%d", i+1), Type: kind, Insns: p.Insns, Maps: s.specs}, s.maps,
			&program.LoadOptions{Rare: p.Point.Rare(), Signals: s.Unsafe})
		var refused *verify.Error
		if errors.As(err, &refused) {
			return s.Unit.Explain(p, refused.PC, refused.Why)
		}
		if err != nil {
			return s.Unit.Explain(p, -1, err.Error())
		}
		s.progs = append(s.progs, prog)
		if s.Budget > 0 && !once(p.Point) {
			if err := prog.SetBudget(s.Budget); err != nil {
				return err
			}
		}
	}
	return nil
}

// attach attaches all programs but those of BEGIN and END.
func (s *session) attach() error {
	var c grace.Change
	defer func() { c.Complete() }()
	refused, why := 0, error(nil)
	for i, p := range s.Unit.Programs {
		if once(p.Point) {
			s.probes++
			continue
		}
		places, err := s.Places(p.Point)
		if err != nil {
			return s.Unit.Explain(p, -1, err.Error())
		}
		if p.Point.Provider == "interval" {
			s.intervals = append(s.intervals, places[0].Period)
		}
		link, err := link(&c, s.progs[i], p.Target, places, s.hears(p), s.Unit.Settings.MaxProbes-s.probes)
		if errors.Is(err, syscall.E2BIG) {
			return s.tooMany(p, err)
		}
		if err != nil && p.Point.Loose {
			refused, why = refused+1, s.Unit.Explain(p, -1, err.Error())
			continue
		}
		if err != nil {
			return s.Unit.Explain(p, -1, err.Error())
		}
		s.probes += len(link.Places())
		s.tell(p.Point, link)
	}
	if s.probes == 0 && why != nil {
		return why
	}
	if refused > 0 && s.Ledger {
		fmt.Fprintf(s.Err, "bt: %d functions that fit a pattern cannot have a probe\n", refused)
	}
	return nil
}

// tooMany is the error of a point that stands for more places than a script may have.
func (s *session) tooMany(p *lang.Compiled, err error) error {
	e := s.Unit.Explain(p, -1, err.Error())
	e.Hint = fmt.Sprintf("the limit is %d places for a script, of which the points before this take %d; --config max_probes=N raises it", s.Unit.Settings.MaxProbes, s.probes)
	return e
}

// tell says what of a point has no probe.
func (s *session) tell(p *lang.Point, l *program.Link) {
	if !s.Quiet && !p.Loose {
		if text := l.Summary(); text != "" {
			fmt.Fprintf(s.Err, "bt: %s: %s\n", p.Text, text)
		}
	}
	if n := l.Skipped(); n > 0 && s.Ledger {
		fmt.Fprintf(s.Err, "bt: %s: %d places cannot have a probe\n", p.Text, n)
	}
}

func once(p *lang.Point) bool { return p.Provider == "begin" || p.Provider == "end" }

// once runs the programs of BEGIN or END, and what they ask for.
func (s *session) once(provider string) error {
	for i, p := range s.Unit.Programs {
		if p.Point.Provider != provider {
			continue
		}
		s.progs[i].Run("bt", nil)
		if err := s.drain(); err != nil {
			return err
		}
	}
	return nil
}

// wait lets the probes run until something ends the script.
func (s *session) wait() (interrupted bool, err error) {
	if s.ended || s.Command == nil && !slices.ContainsFunc(s.Unit.Programs, func(p *lang.Compiled) bool { return !once(p.Point) }) {
		return false, nil // nothing can happen any more
	}
	if !s.settle() {
		return true, nil
	}
	var done <-chan int
	defer s.count(false)
	if s.Command != nil {
		done = s.Command(s.count)
	} else {
		s.count(true)
	}
	speaks := s.speaks()
	pace := paceOf(s.Unit, s.intervals)
	found := false
	for !s.ended {
		seen := s.seen
		more, err := s.drainSome()
		if err != nil || s.ended {
			return false, err
		}
		found = found || s.seen != seen
		var look <-chan time.Time // never: the tool would count what it does itself
		switch {
		case more:
			look = time.After(0)
		case speaks:
			look = time.After(pace.next(found))
			found = false
		}
		select {
		case <-s.Interrupt:
			return true, nil
		case s.Code = <-done:
			return false, nil
		case <-look:
		}
	}
	return false, nil
}

// settle has the probes settle; false: ^C came before.
func (s *session) settle() bool {
	if s.Settle == nil || s.probes == 0 {
		return true
	}
	settled := make(chan struct{})
	go func() {
		s.Settle()
		close(settled)
	}()
	select {
	case <-settled:
		return true
	case <-s.Interrupt:
		return false
	}
}

// speaks reports whether there may be records before the end.
func (s *session) speaks() bool {
	return slices.ContainsFunc(s.Unit.Actions, func(a *lang.Action) bool { return !once(a.Point) })
}

// hears is the goroutine to whose doing a point must not answer with records, as it would without end; 0: none.
func (s *session) hears(p *lang.Compiled) uint64 {
	if p.Target.User || !slices.ContainsFunc(s.Unit.Actions, func(a *lang.Action) bool { return a.Point == p.Point }) {
		return 0
	}
	return s.self
}

// count has the probes run, or no more.
func (s *session) count(on bool) {
	active := uint64(0)
	if on {
		active = 1
	}
	s.control(lang.ControlActive, active)
}

// end takes the probes away, runs END, and prints the maps.
func (s *session) end(interrupted bool) error {
	program.Detach(s.progs)
	s.ended = false
	if err := s.drain(); err != nil {
		return err
	}
	if err := s.once("end"); err != nil {
		return err
	}
	if interrupted && !s.Out.JSON && s.Export == nil {
		fmt.Fprintln(s.Out.W)
	}
	if err := export.Rest(s.Export, s.Out, s.tableOf); err != nil {
		return err
	}
	s.ledger()
	return nil
}

// control sets a word of the first map. It allocates only the first time, since the script may count that.
func (s *session) control(offset int, value uint64) {
	m := s.maps[lang.ControlMap]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		s.key, s.words = make([]byte, m.Spec.KeySize), make([]byte, m.Spec.ValueSize)
	}
	if m.Lookup(0, s.key, s.words) == nil {
		binary.LittleEndian.PutUint64(s.words[offset:], value)
		m.Update(0, s.key, s.words, program.Any)
	}
}

func (s *session) close() {
	program.CloseAll(s.progs)
	for _, m := range s.maps {
		m.Close()
	}
}
