// Package sim runs scripts on the host, for tests: the verifier checks the programs, the interpreter
// executes them, and what they say is printed as on the machine. Only BEGIN, END and intervals are there:
// the time is simulated.
package sim

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/internal/interp"
	"sonde/probe/program"
	"sonde/trace/export"
	"sonde/trace/lang"
	"sonde/trace/out"
)

// Options are a script, and how it is run.
type Options struct {
	Name, Script string
	Params       []string
	Settings     []lang.Setting // after those of the script's config
	JSON, Quiet  bool
	Missing      bool // say when a key is not there: -k
	NoWarnings   bool
	Export       export.Sink // instead of printing
	System, Cat  func(string) (string, error)
	Comm         string        // of the goroutine
	For          time.Duration // simulated, after which ^C is typed; 0: three seconds
	Resolver     lang.Resolver // of other attach points than intervals, which are never hit; nil: there are none
	W            io.Writer     // nil: only Text of the result
}

// Result is what a script did.
type Result struct {
	Text string // what it printed
	Code int    // of exit()
}

// CPUs is how many processors the scripts see. They run on the last one.
const CPUs = 2

// session is a script that runs.
type session struct {
	*Options
	unit   *lang.Unit
	env    *verify.Env
	out    *out.Printer
	tables []*table
	places [][]byte // memory that helpers give addresses of
	now    uint64
	ended  bool
	code   int
	queue  [][]byte // records

	speculations out.Speculations
}

// Run compiles a script and runs it to its end.
//
// Errors: *lang.Error, also for what the verifier refuses; what the interpreter refuses.
func Run(o *Options) (*Result, error) {
	var text bytes.Buffer
	if o.W == nil {
		o.W = &text
	}
	script, err := lang.Parse(o.Name, o.Script, o.Params...)
	if err != nil {
		return nil, err
	}
	script.Config = append(script.Config, o.Settings...)
	unit, err := lang.Compile(script, &lang.Options{Resolver: resolver{o.Resolver}, CPUs: CPUs, Missing: o.Missing, Unsafe: true, Stamps: o.Export != nil, Epoch: 1_700_000_000e9})
	if err != nil {
		return nil, err
	}
	s := &session{Options: o, unit: unit, env: verify.NewEnv(), now: 5e9}
	s.out = &out.Printer{W: o.W, JSON: o.JSON, Unit: unit, Symbols: symbols{}, Started: time.Unix(1_700_000_000, 0).UTC(), NoWarnings: o.NoWarnings, System: o.System, Cat: o.Cat}
	for _, spec := range unit.Specs {
		s.tables = append(s.tables, s.newTable(spec))
	}
	err = s.run()
	return &Result{text.String(), s.code}, err
}

func (s *session) run() error {
	for _, p := range s.unit.Programs {
		if err := s.verify(p); err != nil {
			return err
		}
	}
	if !s.NoWarnings {
		for _, w := range s.unit.Warnings {
			fmt.Fprintln(s.W, w)
		}
	}
	if !s.Quiet && s.Export == nil {
		if err := s.out.Attached(len(s.unit.Programs)); err != nil {
			return err
		}
	}
	s.control(lang.ControlStart, s.now)
	if err := s.each("begin"); err != nil {
		return err
	}
	s.control(lang.ControlActive, 1)
	if err := s.intervals(); err != nil {
		return err
	}
	s.ended = false
	if err := s.each("end"); err != nil {
		return err
	}
	if err := export.Rest(s.Export, s.out, s.table); err != nil {
		return err
	}
	for _, m := range s.unit.Maps {
		if lost := s.tables[m.Index].lost; lost > 0 {
			fmt.Fprintln(s.W, out.Full(m, lost, s.unit.Settings.MaxKeys))
		}
	}
	return nil
}

func (s *session) verify(p *lang.Compiled) error {
	env := *s.env
	if p.Point.Rare() {
		env.Limits.Worst = program.RareWorst
	}
	_, err := verify.Check(&bpf.Program{Name: "sim", Type: bpf.Kprobe, Insns: p.Insns, Maps: s.unit.Specs}, &env)
	if e, ok := err.(*verify.Error); ok {
		return s.unit.Explain(p, e.PC, e.Why)
	}
	return err
}

// each runs the programs of a provider.
func (s *session) each(provider string) error {
	for _, p := range s.unit.Programs {
		if p.Point.Provider != provider || s.ended {
			continue
		}
		if err := s.execute(p); err != nil {
			return err
		}
	}
	return nil
}

// intervals lets the time continue until the script ends.
func (s *session) intervals() error {
	type timer struct {
		p            *lang.Compiled
		period, next uint64
	}
	var all []*timer
	for _, p := range s.unit.Programs {
		if d := period(p.Point); d > 0 {
			all = append(all, &timer{p, d, s.now + d})
		}
	}
	if s.For == 0 {
		s.For = 3 * time.Second
	}
	end := s.now + uint64(s.For)
	for len(all) > 0 && !s.ended {
		t := slices.MinFunc(all, func(a, b *timer) int { return int(int64(a.next - b.next)) })
		if t.next > end {
			break
		}
		s.now = max(s.now, t.next)
		t.next += t.period
		if err := s.execute(t.p); err != nil {
			return err
		}
	}
	return nil
}

// execute runs a program once, and does what its records ask for.
func (s *session) execute(p *lang.Compiled) error {
	vm, err := interp.New(p.Insns)
	if err != nil {
		return err
	}
	vm.Limit = 1 << 24
	vm.Regions = []interp.Region{{Name: "regs", Base: regsBase, Bytes: make([]byte, 168)}}
	for i := range s.places {
		vm.Regions = append(vm.Regions, s.region(i))
	}
	vm.Resolve = func(first, second bpf.Insn) (uint64, error) {
		switch first.Src() {
		case bpf.MapIdxVal:
			return s.address(s.tables[first.Imm].element()) + uint64(uint32(second.Imm)), nil
		case bpf.MapIdx:
			return uint64(first.Imm), nil
		}
		return 0, fmt.Errorf("this is not a map")
	}
	vm.Helpers = s.helpers()
	if _, err := vm.Run(regsBase); err != nil {
		return fmt.Errorf("%w\n%s", err, p.Text)
	}
	for _, record := range s.queue {
		for _, r := range s.speculations.Take(s.unit, record) {
			if err := s.handle(r); err != nil {
				return err
			}
		}
	}
	s.queue = nil
	return nil
}

// handle does what a record asks for.
func (s *session) handle(r []byte) error {
	a, data := out.Action(s.unit, r)
	if a == nil {
		return fmt.Errorf("a record of %d bytes", len(r))
	}
	if a.Kind == lang.Exit {
		s.ended, s.code = true, out.ExitCode(a, data)
		return nil
	}
	return export.Act(s.Export, s.out, a, r, data, s.table)
}

func (s *session) table(m *lang.Map) out.Table { return s.tables[m.Index] }
