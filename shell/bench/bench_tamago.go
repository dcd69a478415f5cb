//go:build tamago

// Package bench measures what probes cost on this machine, for the shell's command bench.
//
// Rows are TSV, name<TAB>ns<TAB>least..greatest: the median of some runs and their range,
// less the time of a plain call. Handlers only count. Under an emulator no absolute figure
// is stable: compare rows of one run, above all with the bare traps.
package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/kwatch"
	"sonde/optprobe"
)

const (
	calls = 60_000
	batch = 256
)

// runs is how often each row is measured. Run sets it.
var runs int

// targets returns the addresses of assembly functions. Go code that names such a function gets a
// wrapper of two calls, whose first instruction is another one.
func targets() (mov, jmp, int3, spill, store uintptr)

func spill() // go vet wants a declaration of a function with a frame

var codeMov, codeJmp, codeInt3, codeSpill, codeStore = targets()

// asm returns the code at *p as a func: a func value is the address of a word with the code's
// address.
func asm(p *uintptr) func() { return *(*func())(unsafe.Pointer(&p)) }

var (
	callMov   = asm(&codeMov)
	callJmp   = asm(&codeJmp)
	callInt3  = asm(&codeInt3)
	callSpill = asm(&codeSpill)
	callStore = asm(&codeStore)
)

//go:noinline
func targetGo(a, b int) int { return a + b + len(sink) }

var sink [4]byte

func callGo() {
	//lint:ignore SA4017 the call is what is measured
	targetGo(1, 2)
}

// counts is what the handlers count: one counter per CPU.
var counts [trap.MaxCPUs]struct {
	n uint64
	_ [7]uint64
}

func count(_ *kprobes.Kprobe, r *amd64.Regs) int { counts[trap.ID(r)].n++; return 0 }

func countPost(*kprobes.Kprobe, *amd64.Regs, uint64) {}

func countReturn(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { counts[trap.ID(r)].n++; return 0 }

func mirror(a, b int) int {
	counts[cpu.ID()].n++
	kprobes.JprobeReturn()
	return 0
}

func total() (n uint64) {
	for i := range counts {
		n += counts[i].n
	}
	return n
}

// A row is one measurement.
type row struct {
	name   string
	target func()
	plant  func() (remove func(), err error) // nil: nothing
	hits   int                               // of one call
	jump   bool                              // the probes are optimized
	event  bool                              // a program runs at the hit: it is of the group events
	depth  int                               // deep calls itself until so many calls are in progress; 0: target is called
}

var rows = []row{
	{name: "call", target: callMov},
	{name: "spill", target: callSpill},
	{name: "bare_int3", target: callInt3, plant: bare(false)},
	{name: "bare_step", target: callInt3, plant: bare(true)},
	{name: "trap", target: callInt3, plant: func() (func(), error) { return trap.Empty(), nil }},
	{name: "k", target: callMov, plant: plantK("sonde/shell/bench.targetMov", countPost), hits: 1},
	{name: "b", target: callMov, plant: plantK("sonde/shell/bench.targetMov", nil), hits: 1},
	{name: "e", target: callJmp, plant: plantK("sonde/shell/bench.targetJmp", nil), hits: 1},
	{name: "o", target: callMov, plant: plantK("sonde/shell/bench.targetMov", nil), hits: 1, jump: true},
	{name: "j", target: callGo, plant: plantJ, hits: 1},
	{name: "r", target: callGo, plant: plantR, hits: 1},
	{name: "kr", target: callGo, plant: both(plantK("sonde/shell/bench.targetGo", nil), plantR), hits: 2},
	{name: "jr", target: callGo, plant: both(plantJ, plantR), hits: 2},
	{name: "ro", target: callGo, plant: plantR, hits: 1, jump: true},
	{name: "kro", target: callGo, plant: both(plantK("sonde/shell/bench.targetGo", nil), plantR), hits: 2, jump: true},
	{name: "bare_w", target: callStore, plant: bareDebug(plantW)},
	{name: "bare_x", target: callMov, plant: bareDebug(plantX)},
	{name: "w", target: callStore, plant: plantW, hits: 1},
	{name: "x", target: callMov, plant: plantX, hits: 1},
	{name: "ring", target: writeRecord, plant: plantRing},
	{name: "r_1000", depth: 1000, plant: plantDeep(1000), hits: 1},
	{name: "r_16000", depth: 16000, plant: plantDeep(16000), hits: 1},
}

// plantW watches the variable that targetStore writes, plantX the start of targetMov.
func plantW() (func(), error) { return watch(uintptr(unsafe.Pointer(&written)), 8, kwatch.Write) }

func plantX() (func(), error) { return watch(codeMov, 1, kwatch.Execute) }

// bareDebug is plant with the shortest possible trap.
func bareDebug(plant func() (func(), error)) func() (func(), error) {
	return func() (func(), error) {
		remove, err := plant()
		if err != nil {
			return nil, err
		}
		restore := trap.BareDebug()
		return func() { restore(); remove() }, nil
	}
}

func watch(addr uintptr, length int, typ kwatch.Type) (func(), error) {
	reg, err := kwatch.RegisterKwatch(addr, length, typ, func(h *kwatch.Hit, _ *amd64.Regs) { counts[h.CPU].n++ })
	return func() { kwatch.UnregisterKwatch(reg) }, err
}

// written is the variable that targetStore writes.
var written uint64

func bare(step bool) func() (func(), error) {
	return func() (func(), error) { return trap.Bare(step), nil }
}

func plantK(symbol string, post kprobes.PostHandler) func() (func(), error) {
	return func() (func(), error) {
		k := &kprobes.Kprobe{SymbolName: symbol, PreHandler: count, PostHandler: post}
		if err := kprobes.RegisterKprobe(k); err != nil {
			return nil, err
		}
		return func() { kprobes.UnregisterKprobe(k) }, nil
	}
}

func plantJ() (func(), error) {
	j := kprobes.NewJprobe(targetGo, mirror)
	return func() { kprobes.UnregisterJprobe(j) }, kprobes.RegisterJprobe(j)
}

func plantR() (func(), error) { return plantReturn("sonde/shell/bench.targetGo", 0) }

func plantReturn(symbol string, active int) (func(), error) {
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: symbol}, Handler: countReturn, MaxActive: active}
	return func() { kprobes.UnregisterKretprobe(rp) }, kprobes.RegisterKretprobe(rp)
}

func both(plants ...func() (func(), error)) func() (func(), error) {
	return func() (func(), error) {
		var removes []func()
		for _, p := range plants {
			remove, err := p()
			if err != nil {
				return nil, err
			}
			removes = append(removes, remove)
		}
		return func() {
			for _, f := range removes {
				f()
			}
		}, nil
	}
}

// ErrName says that no row has that name.
var ErrName = errors.New("there is no such row")

// Run measures the rows that args name, all of them if there are no args, and prints them to out.
// args may also name the groups "reg" and "ureg" (registration), "scale" (a second CPU), "load" (many
// probes), "engine" (loading and attaching programs) and "events" (programs at probes of the kernel, and
// engine). load, and the rows that have a depth, take longest and are measured only if named, as are events,
// whose instructions are what is of interest.
// Each row is measured n times.
//
// Errors: ErrName, before anything is measured; those of registering; ENOSYS if a row is named that
// needs programs, and there are none.
func Run(out io.Writer, n int, args []string) error {
	runs = n
	for _, name := range args {
		if !known(name) {
			return fmt.Errorf("%s: %w", name, ErrName)
		}
	}
	wanted := func(name string) bool { return len(args) == 0 || slices.Contains(args, name) }
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, r := range rows {
		if !wanted(r.name) && !(r.event && slices.Contains(args, "events")) || (r.event || r.depth > 0) && len(args) == 0 {
			continue
		}
		if err := r.run(out); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if inPrograms != nil {
		if err := inPrograms.run(out, args, wanted); err != nil {
			return err
		}
	}
	for _, group := range []struct {
		wanted bool
		run    func(io.Writer) error
	}{
		{wanted("reg"), registration},
		{slices.Contains(args, "load"), manyProbes},
		{slices.Contains(args, "engine") || slices.Contains(args, "events"), engine},
		{wanted("scale"), scale},
	} {
		if group.wanted {
			if err := group.run(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// inPrograms is what is measured in programs; nil: this kernel runs none.
var inPrograms interface {
	known(name string) bool
	// run measures the rows in args, or all of them; what needs programs is left out if there are none.
	run(out io.Writer, args []string, wanted func(name string) bool) error
	scale(out io.Writer) error
}

// known reports whether name is the name of a row or of a group.
func known(name string) bool {
	return slices.Contains([]string{"reg", "load", "engine", "events", "scale"}, name) ||
		slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) ||
		inPrograms != nil && inPrograms.known(name)
}

func (r *row) run(w io.Writer) error {
	base := int64(0)
	if r.plant != nil {
		ps, _ := measure(func(int) (int64, error) { return r.perCall(true), nil })
		base = ps.median()
	}
	before := total()
	ps, err := measure(func(run int) (int64, error) {
		return r.planted(run, func() int64 { return r.perCall(false) })
	})
	if err != nil {
		return err
	}
	if got, want := total()-before, uint64(r.hits*r.calls()*runs); got != want {
		return fmt.Errorf("%d hits, not %d", got, want)
	}
	fmt.Fprintf(w, "%s\t%s\n", r.name, ps.net(base))
	return nil
}

// pads are functions that no row calls.
//
// Under QEMU, times depend on addresses, and the median should depend on them as little as
// possible. So each run uses other addresses for what a hit needs: probes on one more pad, its own
// probe elsewhere, and a stack that is a page longer.
//
// Code: the targets of jumps to other pages are found through a table in which all addresses of a
// page share 64 entries, and distant pages the same ones (tb_jmp_cache). Two targets of one hit
// that share an entry are searched for at every hit, in one build and not in the next.
//
// Data: the TLB has one entry for all pages whose numbers are equal modulo 256. A hit uses some 18
// pages. Two of them that share an entry cost about 20 ns whenever one comes after the other, and
// pages of the heap lie elsewhere in each boot. That is part of why row k differs between boots,
// not all of it.
var pads = []string{"sonde/shell/bench.scale", "sonde/shell/bench.registration", "sonde/shell/bench.many", "sonde/shell/bench.pair"}

// deeper calls f that many pages further down the stack.
//
//go:noinline
func deeper(pages int, f func() int64) int64 {
	var page [4096]byte
	if pages == 0 {
		return f()
	}
	n := deeper(pages-1, f)
	sink[0] += page[n&4095]
	return n
}

// planted returns the result of f in the given run, with the row's probes.
func (r *row) planted(run int, f func() int64) (int64, error) {
	if r.plant == nil {
		return deeper(run, f), nil
	}
	var first []func() (func(), error)
	for _, pad := range pads[:run%(len(pads)+1)] {
		first = append(first, plantK(pad, nil))
	}
	for _, plant := range []func() (func(), error){both(first...), r.plant} {
		remove, err := plant()
		if err != nil {
			return 0, err
		}
		defer remove()
		if err := optimize(r.jump); err != nil {
			return 0, err
		}
	}
	return deeper(run, f), nil
}

// calls is how many calls are made in a run.
func (r *row) calls() int {
	if r.depth > 0 {
		return deepCalls
	}
	return calls
}

// perCall returns picoseconds per call. A bare trap's int3 is inside a function: its base is a plain call.
func (r *row) perCall(base bool) int64 {
	f := r.target
	switch {
	case r.depth > 0:
		return perDeepCall(r.depth)
	case base && (strings.HasPrefix(r.name, "bare") || r.name == "trap"):
		f = callMov
	}
	from := cpu.Nanotime()
	for range calls {
		f()
	}
	return (cpu.Nanotime() - from) * 1000 / calls
}
