package kbpf

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/bpf/jit"
	"sonde/bpf/verify"
	"sonde/kernel/attach"
	"sonde/kernel/refusal"
)

// A Prog is a program that has been verified and compiled.
type Prog struct {
	ID      int
	Checked *verify.Checked

	entry  uintptr // of the code; a func value points here: see handler
	image  *jit.Image
	name   string // of the code
	maps   []*Map
	nested []nested // by CPU
	unused bool     // it has nothing that other programs on the CPU could disturb

	mu sync.Mutex
	// guarded by mu:
	links  []*attach.Link
	closed bool
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

// Load verifies and compiles a program, whose maps are these.
//
// Errors: EACCES the verifier refuses it (a *verify.Error); E2BIG a limit of the verifier or of the stack
// is reached; EINVAL the name, the maps, or something that is not there yet; ENOMEM no room for its code.
func Load(p *bpf.Program, maps []*Map) (*Prog, error) {
	if err := fits(p, maps); err != nil {
		return nil, err
	}
	c, err := verify.Check(p, env)
	if err != nil {
		errno := syscall.EACCES
		if e, ok := err.(*verify.Error); ok && e.TooBig {
			errno = syscall.E2BIG
		}
		return nil, fmt.Errorf("%w: %w", refusal.New(errno, "program %s is refused", p.Name), err)
	}
	prog := &Prog{Checked: c, maps: slices.Clone(maps), name: "bpf_prog_" + p.Name + " [bpf]", nested: make([]nested, cpus())}
	prog.unused = len(maps) == 0 && len(c.Calls) == 0
	if err := prog.compile(); err != nil {
		return nil, err
	}
	for _, m := range maps {
		m.use(1)
	}
	list.add(prog)
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
	for i, m := range maps {
		if p.Maps[i] != &m.Spec {
			return refusal.New(syscall.EINVAL, "program %s: map %d is another one than the program was made for", p.Name, i)
		}
	}
	return nil
}

// compile makes the code, and puts it where it can be executed.
func (p *Prog) compile() error {
	source := &jit.Program{Insns: p.Checked.Insns, Stack: p.Checked.Frames}
	for _, load := range p.Checked.Ctx {
		source.Ctx = append(source.Ctx, jit.CtxLoad{PC: load.PC, Off: int32(load.Off)})
	}
	// Its length does not depend on where in the pool it is, and is not known before.
	image, err := jit.Compile(source, code.start, p.view())
	if err != nil {
		return refusal.New(syscall.EINVAL, "program %s: %v", p.Checked.Program.Name, err)
	}
	if image.Stack > maxStack {
		return refusal.New(syscall.E2BIG, "program %s takes %d bytes of stack: %d are for programs", p.Checked.Program.Name, image.Stack, maxStack)
	}
	at, err := code.take(len(image.Code))
	if err != nil {
		return err
	}
	p.image, err = jit.Compile(source, at, p.view())
	if err == nil && len(p.image.Code) != len(image.Code) {
		err = fmt.Errorf("its code takes %d bytes at %#x, and %d elsewhere", len(p.image.Code), at, len(image.Code))
	}
	if err != nil {
		code.put(at, len(image.Code))
		return refusal.New(syscall.EINVAL, "program %s: %v", p.Checked.Program.Name, err)
	}
	writeCode(at, p.image.Code)
	p.entry = at
	return nil
}

// view is what the program sees.
func (p *Prog) view() *jit.View {
	v := &jit.View{Context: context, Helper: p.helper, Resolve: p.resolve, CPU: offsetID}
	v.Enter, v.Leave = p.around()
	return v
}

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
		return 0, fmt.Errorf("map %s is no array: only the value of an array has an address", m.Spec.Name)
	}
	return uint64(uintptr(m.base)) + uint64(uint32(second.Imm)), nil
}

// handler is the program as a func value. Safe because: a func value points to a word with the address of
// the code; the code is a function of one word, and stays until Close has waited.
func (p *Prog) handler() attach.Handler {
	at := &p.entry
	return *(*attach.Handler)(unsafe.Pointer(&at))
}

// Attach calls the program at each hit of places. Owner may be "".
//
// Errors: those of attach.ParseSite and attach.Attach; EBADF the program is closed.
func (p *Prog) Attach(owner string, places ...string) (*attach.Link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, refusal.New(syscall.EBADF, "program %s is closed", p.Checked.Program.Name)
	}
	f := p.handler()
	sites := make([]attach.Site, len(places))
	for i, place := range places {
		s, err := attach.ParseSite(place)
		if err != nil {
			return nil, err
		}
		if s.Kind == attach.Program || s.Kind == attach.Call || s.PID != 0 {
			f = p.either
		}
		sites[i] = s
	}
	l, err := attach.Attach(sites, f, &attach.Options{Owner: owner})
	if err == nil {
		p.links = append(p.links, l)
	}
	return l, err
}

// either is the handler at places that call it in a goroutine, at times or always: system calls,
// watchpoints of processes, and the first hit of a thread. There the program is entered as from a trap.
//
// Context: trap, goroutine.
func (p *Prog) either(h *attach.Hit) {
	if inTrap() {
		h.Call(p.handler())
	} else {
		enter(p.entry, uintptr(unsafe.Pointer(h)))
	}
}

// Links returns what the program has been attached to.
func (p *Prog) Links() []*attach.Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.links)
}

// Recursion is how many hits were inside of another program on the same CPU: they count as handled, and
// the program has not run.
func (p *Prog) Recursion() (sum uint64) {
	for i := range p.nested {
		sum += atomic.LoadUint64(&p.nested[i].n)
	}
	return sum
}

// Code returns where the program's code is, and how many bytes it has.
func (p *Prog) Code() (at uintptr, size int) { return p.entry, len(p.image.Code) }

// At returns where the code of an instruction is.
func (p *Prog) At(pc int) uintptr { return p.entry + uintptr(p.image.Offsets[pc]) }

// Maps returns the program's maps, by their index.
func (p *Prog) Maps() []*Map { return p.maps }

// Close detaches the program, and frees what it has when no CPU can be in it. The counts stay readable.
//
// Context: goroutine, not a handler.
func (p *Prog) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for _, l := range p.links {
		l.Close()
	}
	synchronize()
	list.remove(p)
	code.put(p.entry, len(p.image.Code))
	for _, m := range p.maps {
		m.use(-1)
	}
}
