package program

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/ledger"
	"sonde/sysctl"
)

// A Prog is a program that has been verified and compiled.
type Prog struct {
	ID       int
	Checked  *verify.Checked
	LoadedAt time.Time
	Extra    any       // of whoever loaded it
	Function *Function // of a Tracing program: what it is for

	doors
	version                                      // that sees registers as they are
	linux   [maxSkip + 1]atomic.Pointer[version] // by how many words it skips; each is made when it is first needed
	name    string                               // of the code
	credit  uint32                               // of instructions, for programs that it continues as
	maps    []*Map
	nested  []nested // by CPU
	unused  bool     // it has nothing that other programs on the CPU could disturb
	rare    bool     // it was granted to take longer than a hit can wait

	mu sync.Mutex
	// guarded by mu:
	links  []*Link
	past   ledger.Ledger // of the links that there were
	users  int           // files that stand for it or for one of its links
	closed bool          // by its owner
	gone   bool
}

// nested counts, on one CPU, the hits inside of other programs. The code adds 1.
type nested struct {
	n uint64
	_ [lineSize - 8]byte
}

const (
	maxName  = 15   // bytes of a program's name, as in Linux
	maxStack = 4096 // bytes that a program may take of the stack of traps
)

// RareWorst is how many instructions a Rare program may execute at worst, helpers by weight.
const RareWorst = 1 << 26

// Unsafe is whether programs may change what processes do.
var Unsafe = sysctl.NewBool("kernel.bpf_unsafe", false, "let eBPF programs send signals to the processes that they hit")

// LoadOptions say how a program is loaded. The zero value, or nil, is the usual case.
type LoadOptions struct {
	Rare     bool                    // it runs seldom, where nothing waits for it: it may loop over a whole map, which takes milliseconds
	Signals  bool                    // it may send signals, whatever Unsafe says
	Level    int                     // of the log, which is as Linux's verifier writes it; of a program that is accepted, it is Checked.Log
	Function *Function               // of a Tracing program: what it is for
	Extra    any                     // the caller's
	Constant map[*bpf.MapSpec][]byte // see verify.Env
}

// Load verifies and compiles a program, whose maps are these. o may be nil.
//
// Errors: EACCES the verifier refuses it (a *verify.Error); E2BIG a limit of the verifier or of the stack
// is reached; EINVAL the name, the maps, or something that is not there, as a helper; ENOMEM no room for its code.
func Load(p *bpf.Program, maps []*Map, o *LoadOptions) (*Prog, error) {
	if o == nil {
		o = new(LoadOptions)
	}
	in := *env
	in.LogLevel, in.Constant, in.Unsafe = o.Level, o.Constant, o.Signals || Unsafe.Get()
	if o.Rare {
		in.Limits.Worst = RareWorst
	}
	if err := fits(p, maps); err != nil {
		return nil, err
	}
	if (p.Type == bpf.Tracing) != (o.Function != nil) {
		return nil, refusal.New(syscall.EINVAL, "program %s: Tracing programs, and no others, are for one function", p.Name)
	}
	if o.Function != nil {
		in.Context = o.Function.context()
	}
	c, err := verify.Check(p, &in)
	if err != nil {
		errno := syscall.EACCES
		switch e, ok := err.(*verify.Error); {
		case ok && e.TooBig:
			errno = syscall.E2BIG
		case ok && e.Invalid:
			errno = syscall.EINVAL
		}
		return nil, fmt.Errorf("%w: %w", refusal.New(errno, "program %s is refused", p.Name), err)
	}
	prog := &Prog{Checked: c, LoadedAt: time.Now(), Extra: o.Extra, Function: o.Function, maps: slices.Clone(maps), name: "bpf_prog_" + p.Name + " [bpf]", nested: make([]nested, cpus())}
	prog.rare = in.Limits.Worst > verify.DefaultLimits.Worst
	prog.unused = len(maps) == 0 && len(c.Calls) == 0
	prog.credit = uint32(cmp.Or(in.Limits.Worst, verify.DefaultLimits.Worst) - c.Worst)
	if err := prog.compile(&prog.version, kernels); err != nil {
		return nil, err
	}
	if err := prog.joins(maps...); err != nil {
		prog.free()
		return nil, err
	}
	for _, m := range maps {
		m.use(1)
	}
	allProgs.add(prog)
	return prog, nil
}

// fits checks a program's name and its maps.
func fits(p *bpf.Program, maps []*Map) error {
	for _, c := range p.Name {
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return refusal.New(syscall.EINVAL, "program %q: give a name of letters, digits, _ and .", p.Name)
		}
	}
	if p.Name == "" || len(p.Name) > maxName {
		return refusal.New(syscall.EINVAL, "program %q: give a name of 1 to %d letters", p.Name, maxName)
	}
	if len(maps) != len(p.Maps) {
		return refusal.New(syscall.EINVAL, "program %s refers to %d maps, and has %d", p.Name, len(p.Maps), len(maps))
	}
	shared, others := false, false
	for i, m := range maps {
		if p.Maps[i] != &m.Spec {
			return refusal.New(syscall.EINVAL, "program %s: map %d is another one than the program was made for", p.Name, i)
		}
		if m.hasRings() {
			shared, others = shared || m.owned, others || !m.owned
		}
	}
	if shared && others {
		return refusal.New(syscall.EINVAL, "program %s: one of its ring buffers was made by a process, and another was not", p.Name)
	}
	return nil
}

// Type is the program's.
func (p *Prog) Type() bpf.Type { return p.Checked.Program.Type }

// seesRegisters reports whether the context is the registers of the hit; else it is a record, the Data of the
// hit.
func (p *Prog) seesRegisters() bool { return p.Type() == bpf.Kprobe || p.Type() == bpf.PerfEvent }

// resolve returns the address of a map, or of a byte of its first value.
func (p *Prog) resolve(first, second bpf.Insn) (uint64, error) {
	kind := first.Src()
	if kind != bpf.MapIdx && kind != bpf.MapIdxVal || first.Imm < 0 || int(first.Imm) >= len(p.maps) {
		return 0, fmt.Errorf("what it refers to is not known here: give a map by its index, map[idx:N]")
	}
	m := p.maps[first.Imm]
	if kind == bpf.MapIdx {
		return uint64(uintptr(unsafe.Pointer(m))), nil
	}
	if m.Spec.Type != bpf.Array {
		return 0, fmt.Errorf("map %s is not an array: only the value of an array has an address", m.Spec.Name)
	}
	return uint64(uintptr(m.base)) + uint64(uint32(second.Imm)), nil
}

// Links returns what the program is attached to.
func (p *Prog) Links() []*Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.links)
}

// Ledger is the sum of what probes say of the program, those that it is no more attached to included.
func (p *Prog) Ledger() ledger.Ledger {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.past
	for _, l := range p.links {
		sum = sum.Plus(l.Ledger())
	}
	return sum
}

// Recursion is how many hits were inside of another program on the same CPU: they count as handled, and
// the program has not run.
func (p *Prog) Recursion() (sum uint64) {
	for i := range p.nested {
		sum += atomic.LoadUint64(&p.nested[i].n)
	}
	return sum
}

// Tag tells programs apart by their instructions. Those of Linux are made by SHA, which is not in the
// kernel.
func (p *Prog) Tag() string {
	h := fnv.New64a()
	h.Write(bpf.Encode(p.Checked.Program.Insns))
	return fmt.Sprintf("%016x", h.Sum64())
}

// Code returns the program's machine code, and where it is. It must not be changed.
func (p *Prog) Code() (at uintptr, code []byte) { return p.entry, p.image.Code }

// At returns where the code of an instruction is.
func (p *Prog) At(pc int) uintptr { return p.entry + uintptr(p.image.Offsets[pc]) }

// PC returns which instruction the machine code at an offset belongs to; ok is false for what is no
// instruction's.
func (p *Prog) PC(off int) (pc int, ok bool) { return p.image.PC(off) }

// Maps returns the program's maps, by their index.
func (p *Prog) Maps() []*Map { return p.maps }

// Close gives the program up: it is detached, and what it has is freed when no CPU can be in it. Links
// that a file in /sys/fs/bpf stands for stay, and so does a program with such a file or link. The counts
// stay readable.
//
// Context: goroutine, not a handler.
func (p *Prog) Close() { CloseAll([]*Prog{p}) }

// CloseAll is Close for many programs, with one wait for what detaches them and one grace period.
//
// Context: goroutine, not a handler.
func CloseAll(all []*Prog) {
	Detach(all)
	ended := slices.DeleteFunc(slices.Clone(all), func(p *Prog) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closed = true
		return !p.end()
	})
	free(ended...)
}

// detach detaches the links that no file keeps. Called with mu held, until c is complete.
func (p *Prog) detach(c *grace.Change) {
	for _, l := range p.links {
		if l.pins == 0 {
			l.detach(c)
		}
	}
}

// keep is part of Object.
func (p *Prog) keep(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return refusal.New(syscall.EBADF, "program %s is closed", p.Checked.Program.Name)
	}
	p.users += n
	p.drop()
	return nil
}

// drop frees the program if no user is left. Called with mu held.
func (p *Prog) drop() {
	if p.end() {
		free(p)
	}
}

// end reports whether no user is left, for the first time: then the program is to be freed. Called with mu
// held.
func (p *Prog) end() bool {
	if !p.closed || p.users > 0 || p.gone {
		return false
	}
	p.gone = true
	for _, l := range slices.Clone(p.links) {
		l.close()
	}
	return true
}

// free frees programs that have ended, when no CPU can be in one.
func free(ended ...*Prog) {
	if len(ended) == 0 {
		return
	}
	synchronize()
	for _, p := range ended {
		allProgs.remove(p)
		for _, v := range p.versions() {
			v.free()
		}
		for _, m := range p.maps {
			m.use(-1)
		}
		tell(p.Extra)
	}
}
