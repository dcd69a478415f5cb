//go:build tamago

package optprobe

import (
	"fmt"
	"runtime"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/live"
	"sonde/arch/amd64/trap"
	"sonde/kernel/grace"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/kprobes/fuse"
)

// fuse puts the handler of the lone probe into the detour, in front of the copy, if it can be compiled. The general way,
// which begins at general after its stack check, jumps over it. If it does not fit, it gets memory of its own.
func (p *plan) fuse(r *request, general uintptr) {
	p.For = r.lone
	over := len(p.code)
	p.code = append(p.code, 0xe9, 0, 0, 0, 0) // JMP resume
	f := live.Function{Addr: r.fn.Addr, Code: r.fn.Code, Compiled: compiled}
	off := int(uint64(r.addr) - r.fn.Addr)
	spec := fuse.Spec{
		At: p.here(), General: general, Inside: int32(trap.OffsetInside), Count: r.count,
		Dead: f.FlagsDead(off), IP: uint64(r.addr) + 1, Handler: r.lone.Place.Link.Options.Fuse,
	}
	if r.check > 0 {
		_, size := copyCheck(r.fn.Code, r.check, uint64(r.addr), 0)
		spec.Check = func(at uintptr) []byte {
			out, _ := copyCheck(r.fn.Code, r.check, uint64(r.addr), uint64(at))
			return out
		}
		spec.Dead = f.FlagsDead(size)
	}
	if off == 0 && f.EntryFree(r.check > 0) {
		spec.Free = []uint8{12, 13, 15}
	}
	code, err := fuse.Make(&spec)
	if room := detour.Size - r.behind(p.here()) - len(p.code); err != nil || len(code.Bytes) > room {
		p.code = p.code[:over]
		if p.Why = err; err == nil {
			p.Why = p.fuseApart(&spec)
		}
		return
	}
	p.has(code, p.here(), len(code.Bytes))
	p.code = append(p.code, code.Bytes...)
	p.code[over+1] = byte(len(code.Bytes))
	p.code[over+2] = byte(len(code.Bytes) >> 8)
}

// has notes where the handler is, and how many bytes it has there.
func (p *plan) has(code *fuse.Code, at uintptr, n int) {
	p.fused, p.Slow, p.Fused, p.Past = code, at, at+uintptr(code.Entry), at+uintptr(n)
}

// fuseApart puts the handler into memory of its own. The copy begins at the end of the detour as it is.
//
// Errors: why it cannot be there.
func (p *plan) fuseApart(spec *fuse.Spec) error {
	head, ok := kprobes.Detours().Take(p.Addr)
	if !ok {
		return fmt.Errorf("it does not fit into a detour, and all %d are in use", kprobes.Detours().Used())
	}
	p.Apart, spec.At = head, head
	code, err := fuse.Make(spec)
	if err != nil {
		return err
	}
	if p.apart = code.Bytes; len(p.apart)+insn.JumpSize > detour.Size {
		return fmt.Errorf("its code takes %d bytes, more than %d", len(p.apart), detour.Size-insn.JumpSize)
	}
	back, _ := insn.Jump(uint64(head)+uint64(len(p.apart)), uint64(p.here()))
	p.apart = append(p.apart, back[:]...)
	p.has(code, head, len(p.apart))
	return nil
}

// makeStubs makes the code of breakpoints that can have their handlers in it. Called with busy held.
func makeStubs() {
	for _, c := range kprobes.Unstubbed() {
		head, ok := kprobes.Detours().Take(c.Addr)
		if !ok {
			return // prepare warns of that
		}
		s := &detour.Stub{Head: head, For: c.Lone, Leads: c.Leads}
		code, err := fuse.Stub(&fuse.Spec{
			At: head, General: trap.Known(), Inside: int32(trap.OffsetInside), Count: c.Count,
			IP: uint64(c.Addr) + 1, Handler: c.Lone.Place.Link.Options.Fuse,
		}, c.Leads)
		switch {
		case err != nil:
			s.Why = err
		case len(code) > detour.Size:
			s.Why = fmt.Errorf("its code takes %d bytes, more than %d", len(code), detour.Size)
		default:
			s.Len = len(code)
			text.WriteSlot(head, code)
		}
		if s.Len == 0 {
			s.Head = 0
		}
		if !c.BindStub(s) || s.Len == 0 {
			since := grace.Now()
			kprobes.Detours().Put(head, &since, nil)
		}
	}
}

// behind is how many bytes the copy and the jump back take; at is about where they will be.
func (r *request) behind(at uintptr) int {
	if r.check > 0 {
		return JumpSize
	}
	off := int(uint64(r.addr) - r.fn.Addr)
	c, _ := Relocate(r.fn.Code[off:off+r.size], uint64(r.addr), uint64(at))
	return len(c.Bytes())
}

// compiled reports whether Go's compiler has made the function at an address, so that its rules of calling hold. What it
// generates for itself it does not keep to: wrappers.
func compiled(addr uint64) bool {
	f := runtime.FuncForPC(uintptr(addr))
	if f == nil || uint64(f.Entry()) != addr {
		return false
	}
	file, _ := f.FileLine(f.Entry())
	return strings.HasSuffix(file, ".go")
}
