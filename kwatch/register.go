package kwatch

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// mu serializes registering and unregistering.
var mu sync.Mutex

// ended are the summed counts of watchpoints that have ended. guarded by mu
var ended ledger.Ledger

// machine is what this package needs of the machine: real_tamago.go, or a fake in tests.
type machine struct {
	cpus func() int
	// set says what every CPU is to watch, which it does when it has called each, with interrupts off.
	// unwatched is called when all have.
	set             func(s *debugreg.Set)
	each, unwatched func()
	read            func(addr uintptr, length int) uint64
	// blind counts the steps of probed instructions in which nothing is watched.
	blind func() uint64
	// recheck is called when an execute watchpoint comes or goes, which it has done when the change is complete.
	recheck func(addr uintptr) grace.Change
	// careful reports whether a handler may change X0-X14, IP or SP.
	careful func(handler any) bool
	// record is what a camera does at a hit.
	record func(c *Camera, h *Hit, r *amd64.Regs)
	// refuse returns why there can be no such watchpoint; object: the caller refers to the
	// object.
	refuse func(addr uintptr, length int, typ Type, object bool) error
}

// RegisterKwatch makes every CPU call handler at each access of type typ to the length
// bytes at addr. It returns the debug register used.
//
// Units: length is 1, 2, 4 or 8 bytes, and addr a multiple of it; for Execute, length is 1.
// Errors: EBUSY all debug registers are in use (the error says by whom); EILSEQ Execute
// where no instruction begins; EINVAL the length, the alignment or the type is wrong, the
// handler is nil, or the address cannot be watched (the error says why); EFAULT nothing is
// mapped there.
// Source:  "Kernel Watchpoint Probes Interface", register_kwatch.
func RegisterKwatch(addr uintptr, length int, typ Type, handler Handler) (debugReg int, err error) {
	return register(&point{addr: addr, length: length, typ: typ, handler: handler})
}

// RegisterKwatchObject is RegisterKwatch for the memory that p points to, which may be in
// the heap: the watchpoint keeps it alive, and Go does not move it.
//
// Errors: those of RegisterKwatch; EINVAL also if p points into a stack.
func RegisterKwatchObject(p unsafe.Pointer, length int, typ Type, handler Handler) (debugReg int, err error) {
	return register(&point{addr: uintptr(p), keep: p, length: length, typ: typ, handler: handler})
}

// RegisterKwatchSymbol is RegisterKwatch for length bytes at an offset in a symbol. Length
// 0 means the symbol's size, or as much from its beginning as can be watched.
//
// Errors: those of RegisterKwatch and of kallsyms.Resolve.
func RegisterKwatchSymbol(name string, offset uintptr, length int, typ Type, handler Handler) (debugReg int, err error) {
	addr, length, err := At(attach.Site{Kind: attach.Watch, Symbol: name, Offset: uint64(offset), Access: typ, Length: length})
	if err != nil {
		return 0, err
	}
	return RegisterKwatch(addr, length, typ, handler)
}

// At returns the address and the length of a place. Without a length, that is as much as fits the
// symbol, or 8 bytes at an address.
//
// Errors: those of kallsyms.Resolve; EINVAL it is in a process.
func At(s attach.Site) (addr uintptr, length int, err error) {
	if s.File != "" {
		return 0, 0, refusal.New(syscall.EINVAL, "kwatch: %s is a variable of a program, and is there in each of its processes", s)
	}
	if s.PID != 0 {
		return 0, 0, refusal.New(syscall.EINVAL, "kwatch: %s is not in the kernel", s)
	}
	addr, size := uintptr(s.Addr), uintptr(8)
	if s.Symbol != "" {
		sym, err := kallsyms.Resolve(s.Symbol)
		if err != nil {
			return 0, 0, err
		}
		addr, size = uintptr(sym.Addr+s.Offset), uintptr(sym.Size-min(s.Offset, sym.Size))
	}
	if s.Length != 0 {
		return addr, s.Length, nil
	}
	return addr, Fitting(addr, size, s.Access), nil
}

// Fitting returns the greatest length that can be watched at addr, where there are size
// bytes.
func Fitting(addr, size uintptr, typ Type) int {
	n := 8
	if typ == Execute {
		n = 1
	}
	for n > 1 && (uintptr(n) > size || addr&uintptr(n-1) != 0) {
		n /= 2
	}
	return n
}

// register registers a point, and returns its debug register.
func register(p *point) (int, error) {
	err := registerAll([]*point{p})
	return p.reg, err
}

// registerAll registers all of ps, or none.
func registerAll(ps []*point) error {
	c, err := begin(ps)
	c.Complete()
	return err
}

// begin is registerAll of which the wait is left to do.
func begin(ps []*point) (c grace.Change, err error) {
	for _, p := range ps {
		if err := p.check(); err != nil {
			return c, err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for i, p := range ps {
		if err := p.reserve(); err != nil {
			for _, p := range ps[:i] {
				points[p.reg].Store(nil)
			}
			return c, err
		}
	}
	for _, p := range ps {
		if p.user != nil {
			p.user.attached(p)
		}
	}
	c, n := set(ps)
	c.Then = append(c.Then, func() { begun(n) })
	return c, nil
}

// begun is called when all CPUs watch what set n was.
func begun(n uint64) {
	mu.Lock()
	defer mu.Unlock()
	loaded(n)
}

// reserve gives p a debug register, which no CPU loads yet. mu held.
func (p *point) reserve() error {
	if p.user == nil {
		if err := this.refuse(p.addr, p.length, p.typ, p.keep != nil); err != nil {
			return err
		}
	}
	if p.reg = free(); p.reg < 0 {
		return refusal.New(syscall.EBUSY, "kwatch: %s: all debug registers are in use:%s", p.what(), holders())
	}
	p.owner, p.code, p.careful = module.Current(), goabi.CodeOf(p.called()), this.careful(p.called())
	if p.place != nil {
		p.owner = p.place.Link.Options.Owner
	}
	p.accounts.Open(this.cpus())
	p.blind = this.blind()
	p.look()
	points[p.reg].Store(p)
	return nil
}

// look notes the value at p, which no CPU writes meanwhile.
func (p *point) look() {
	switch {
	case p.typ == Execute:
	case p.user != nil:
		v, _ := p.user.read(p)
		atomic.StoreUint64(&p.last, v)
	default:
		atomic.StoreUint64(&p.last, this.read(p.addr, p.length))
	}
}

// load makes all CPUs watch what is wanted, now that ps come or go. When it returns, no CPU is in a handler that began
// earlier. mu held.
func load(ps []*point) {
	c, n := set(ps)
	c.Complete()
	loaded(n)
}

// unload lets no CPU watch for what is gone.
func unload() {
	mu.Lock()
	defer mu.Unlock()
	var gone []*point
	for n := range points {
		if p := points[n].Load(); p != nil && p.gone.Load() {
			gone = append(gone, p)
		}
	}
	load(gone)
}

// sets counts the calls of set. guarded by mu
var sets uint64

// set says what all CPUs are to watch, now that ps come or go, after updating which points are hit together. When the
// change is complete, loaded must follow. mu held.
func set(ps []*point) (c grace.Change, n uint64) {
	s := wanted()
	for n := range points {
		if p := points[n].Load(); p != nil {
			atomic.StoreUint64(&p.also, p.others(s))
		}
	}
	this.set(s)
	sets++
	c.Each = []func(){this.each}
	for _, p := range ps {
		if p.typ == Execute && p.user == nil { // probes around it check again whether they can have a jump
			c = c.With(this.recheck(p.addr))
		}
	}
	return c, sets
}

// loaded is called when all CPUs watch what the nth set was, unless they have been told of another. mu held.
func loaded(n uint64) {
	if n == sets {
		this.unwatched()
	}
}

// others returns which points of s, in other registers than its own, are hit together with
// p, and which may be.
func (p *point) others(s *debugreg.Set) (which uint64) {
	for n := range points {
		q := points[n].Load()
		if q == nil || q == p || !s[n].On || !p.sees(q) {
			continue
		}
		if which |= 1 << (beside + n); p.implies(q) {
			which |= 1 << n
		}
	}
	return which
}

// check refuses what no processor can watch at any address.
func (p *point) check() error {
	switch {
	case p.typ > Read:
		return refusal.New(syscall.EINVAL, "kwatch: type %d is unknown; use Write, Access, Read or Execute", p.typ)
	case p.handler == nil && (p.user == nil || !p.user.handled()):
		return refusal.New(syscall.EINVAL, "kwatch: %s: no handler", p.what())
	case p.typ == Execute && p.length != 1:
		return refusal.New(syscall.EINVAL, "kwatch: %s: an Execute watchpoint needs length 1, not %d", p.what(), p.length)
	case p.length != 1 && p.length != 2 && p.length != 4 && p.length != 8:
		return refusal.New(syscall.EINVAL, "kwatch: %s: the length is %d, not 1, 2, 4 or 8", p.what(), p.length)
	case p.addr&uintptr(p.length-1) != 0:
		return refusal.New(syscall.EINVAL, "kwatch: %s: the address must be a multiple of the length, %d", p.what(), p.length)
	}
	return nil
}

// what names p in errors.
func (p *point) what() string { return p.typ.String() + " " + p.where() }

func (p *point) where() string {
	if p.user != nil {
		return fmt.Sprintf("%#x of process %d", p.addr, p.user.pid())
	}
	return kallsyms.Where(uint64(p.addr))
}

// free returns an unused debug register, or -1.
func free() int {
	for n := range points {
		if points[n].Load() == nil {
			return n
		}
	}
	return -1
}

// holders says who uses the debug registers.
func holders() string {
	var b strings.Builder
	for n := range points {
		p := points[n].Load()
		fmt.Fprintf(&b, " %d %s of %s;", n, p.what(), p.holder())
	}
	return strings.TrimSuffix(b.String(), ";")
}

// holder names who registered p.
func (p *point) holder() string {
	if p.owner == "" {
		return "the kernel"
	}
	return "module " + p.owner
}

// wanted returns the debug registers that the points need.
func wanted() *debugreg.Set {
	s := new(debugreg.Set)
	for n := range points {
		if p := points[n].Load(); p != nil && !p.gone.Load() && !p.disabled.Load() && !p.leaving {
			s[n] = p.breakpoint()
		}
	}
	return s
}

// EnableKwatch lets a watchpoint's handler be called again, or not. It keeps its debug register.
//
// Context: goroutine, not a handler.
// Errors: EINVAL there is no such watchpoint, or its handler was abandoned or its program has ended.
func EnableKwatch(debugReg int, on bool) error {
	mu.Lock()
	defer mu.Unlock()
	p, err := registered(debugReg)
	if err != nil {
		return err
	}
	return enable([]*point{p}, on)
}

// registered returns the watchpoint of a debug register. mu held.
//
// Errors: EINVAL.
func registered(debugReg int) (*point, error) {
	if debugReg >= 0 && debugReg < len(points) {
		if p := points[debugReg].Load(); p != nil && !p.leaving {
			return p, nil
		}
	}
	return nil, refusal.New(syscall.EINVAL, "kwatch: debug register %d watches nothing", debugReg)
}

// enable enables or disables all of ps, or none. mu held.
func enable(ps []*point, on bool) error {
	for _, p := range ps {
		if on && p.gone.Load() {
			return refusal.New(syscall.EINVAL, "kwatch: %s: its handler was abandoned, or its program has ended", p.what())
		}
	}
	for _, p := range ps {
		if on && p.disabled.Load() {
			p.look()
		}
		p.disabled.Store(!on)
	}
	load(ps)
	return nil
}
