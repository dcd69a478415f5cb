//go:build tamago

package optprobe

import (
	"fmt"
	"runtime"
	"strings"

	"sonde/arch/amd64/live"
	"sonde/arch/amd64/trap"
	"sonde/kprobes/detour"
	"sonde/kprobes/fuse"
)

// fuse puts the handler of the lone probe into the detour, in front of the copy, if it can be compiled and fits. The
// general way, which begins at general behind its stack check, jumps over it.
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
	if room := detour.Size - r.behind(p.here()) - len(p.code); err == nil && len(code.Bytes) > room {
		err = fmt.Errorf("its code takes %d bytes, and %d are free in a detour", len(code.Bytes), room)
	}
	if p.Why = err; err != nil {
		p.code = p.code[:over]
		return
	}
	p.fused, p.Slow, p.Fused = code, p.here(), p.here()+uintptr(code.Entry)
	p.code = append(p.code, code.Bytes...)
	p.code[over+1] = byte(len(code.Bytes))
	p.code[over+2] = byte(len(code.Bytes) >> 8)
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
