package program

import (
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/bpf/jit"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// A version is a program's code for one view of the registers. Where a place is given by a name of Linux's,
// the program looks for arguments where C has them: its loads of these registers are made loads of those in
// which Go has the same arguments, when the version is compiled.
type version struct {
	prog *Prog
	skip int // words of our function's arguments before Linux's first; kernels: registers are as they are

	door    uintptr // what a func value of the program points to
	entry   uintptr // of the code
	metered uintptr // 0: not made
	held    uintptr
	soft    uintptr // of the code for places that may call it in a goroutine: a func value points here
	tail    uintptr // of the code for programs that continue as it
	image   *jit.Image
}

// behind is how many bytes of code there are after a version's own.
const behind = softSize + tailSize

const (
	kernels = -1 // the skip of the version that sees registers as they are
	maxSkip = 1
)

// skipOf returns which version a place needs.
func skipOf(s attach.Site) int {
	if s.Kind == attach.Kernel {
		if l, ok := kallsyms.Linux(s.Symbol); ok {
			return l.Skip
		}
	}
	return kernels
}

// of returns a version, which it makes if it is the first that needs it. Called with mu held.
//
// Errors: those of compile.
func (p *Prog) of(skip int) (*version, error) {
	switch {
	case skip == kernels || !p.seesRegisters():
		return &p.version, nil
	case skip > maxSkip:
		return nil, refusal.New(syscall.EINVAL, "program %s: Linux's arguments begin %d words behind ours", p.Checked.Program.Name, skip)
	}
	if v := p.linux[skip].Load(); v != nil {
		return v, nil
	}
	v := new(version)
	if err := p.compile(v, skip); err != nil {
		return nil, err
	}
	if p.metered != 0 {
		if err := v.makeDoors(); err != nil {
			v.free()
			return nil, err
		}
	}
	p.linux[skip].Store(v)
	p.choose()
	return v, nil
}

// versions returns all that were made.
//
// Context: any.
func (p *Prog) versions() (all [maxSkip + 2]*version) {
	all[0] = &p.version
	for i := range p.linux {
		all[i+1] = p.linux[i].Load()
	}
	return all
}

// compile makes the code of a version, and puts it where it can be executed.
func (p *Prog) compile(v *version, skip int) error {
	v.prog, v.skip = p, skip
	source := v.source()
	// Its length does not depend on where in the pool it is, and is not known before.
	image, err := jit.Compile(source, code.start, v.view())
	if err != nil {
		return refusal.New(syscall.EINVAL, "program %s: %v", p.Checked.Program.Name, err)
	}
	if image.Stack > maxStack {
		return refusal.New(syscall.E2BIG, "program %s takes %d bytes of stack: %d are for programs", p.Checked.Program.Name, image.Stack, maxStack)
	}
	at, err := code.take(len(image.Code) + behind)
	if err != nil {
		return err
	}
	v.image, err = jit.Compile(source, at, v.view())
	if err == nil && len(v.image.Code) != len(image.Code) {
		err = fmt.Errorf("its code takes %d bytes at %#x, and %d elsewhere", len(v.image.Code), at, len(image.Code))
	}
	if err != nil {
		code.put(at, len(image.Code)+behind)
		return refusal.New(syscall.EINVAL, "program %s: %v", p.Checked.Program.Name, err)
	}
	v.entry, v.door, v.soft = at, at, at+uintptr(len(image.Code))
	v.tail = v.soft + softSize + costSize
	writeCode(at, v.image.Code)
	writeCode(v.soft, v.eitherCode())
	writeCode(v.tail-costSize, v.tailCode())
	return nil
}

// source is what is compiled.
func (v *version) source() *jit.Program {
	c := v.prog.Checked
	source := &jit.Program{Insns: c.Insns, Stack: c.Frames}
	for _, load := range c.Ctx {
		source.Ctx = append(source.Ctx, jit.CtxLoad{PC: load.PC, Off: int32(load.Off)})
	}
	return source
}

// view is what the program sees.
func (v *version) view() *jit.View {
	p := v.prog
	view := &jit.View{Context: v.registersAt, Helper: v.helper, Resolve: p.resolve, CPU: offsetID, Credit: p.credit}
	view.Enter, view.Leave = p.around()
	if !p.seesRegisters() {
		view.Context = nil
	}
	return view
}

// registersAt is registersAt for this view.
func (v *version) registersAt(off int32, size int) (int32, error) {
	in := off &^ (wordSize - 1)
	is := func(n int8) bool { return goabi.PtReg(n) == int(in) }
	if i := slices.IndexFunc(goabi.SystemV, is); i >= 0 && v.skip != kernels {
		off += int32(goabi.PtReg(goabi.Go[i+v.skip])) - in
	}
	return registersAt(off, size)
}

// free gives the code back. No CPU is in it.
func (v *version) free() {
	if v == nil {
		return
	}
	code.put(v.entry, len(v.image.Code)+behind)
	if v.metered != 0 {
		code.put(v.metered, len(v.doorCode(v.metered)))
	}
}

// has reports whether code at an address is the version's, and where that begins.
//
// Context: any.
func (v *version) has(addr uintptr) (start uintptr, ok bool) {
	switch {
	case v == nil:
		return 0, false
	case addr-v.entry < uintptr(len(v.image.Code)+behind):
		return v.entry, true
	case v.metered != 0 && addr-v.metered < doorSize+unit:
		return v.metered, true
	}
	return 0, false
}

// handler is code as a func value: the program, or what decides how to enter it. Safe because: a func value
// points to a word with the address of code; what that leads to is a function of one word, and stays until
// Close has waited.
func handler(at *uintptr) attach.Handler { return *(*attach.Handler)(unsafe.Pointer(&at)) }
