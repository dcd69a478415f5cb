//go:build tamago

package optprobe

import (
	"encoding/binary"

	"sonde/arch/amd64/insn"
	"sonde/kernel/grace"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/kprobes/fuse"
)

// A detour, from its beginning:
//
//
//	head    calls the handlers: Begin of detour.Detour. Within it
//	entry   the stack check, if the probed function begins with one
//	fused   the stack check and the handler itself, if that can be compiled and has room: package fuse
//	resume  the copy of the region; JMP back
//
// A handler that has no room there is in a piece of memory of its own, and jumps to resume.
//
// The stack check comes before the handlers, because if it fails the call has not happened
// yet. It is not in the copy, because it must not be made twice (arch/amd64/prologue).

// plan is a detour that has not been written. It implements Detour.Original and Detour.Depth.
type plan struct {
	detour.Detour
	code []byte
	copy Copy // without a stack check

	fused *fuse.Code // from Slow on; nil: there is none
	apart []byte     // what is at Apart
}

// A request is what a detour is laid out for.
type request struct {
	fn     Function // with its original bytes
	addr   uintptr  // of the probe
	head   uintptr  // of the detour
	size   int      // the region's length
	check  int      // the length of the stack check, including its last branch, or 0
	begins detour.Template

	lone  *kprobes.Kprobe // whose handler is compiled into it; nil: none
	count int32           // where at GS its hits are counted
}

// layout lays out a detour.
func layout(r *request) (*plan, Obstacle) {
	fn, addr, head, size, check := r.fn, r.addr, r.head, r.size, r.check
	p := &plan{Detour: detour.Detour{Addr: addr, Head: head, Len: uintptr(size), Begins: r.begins}}
	off := int(uint64(addr) - fn.Addr)
	var entry int
	p.code, entry = p.Begin()
	p.Entry = head + uintptr(entry)
	general := p.Entry
	if check > 0 {
		p.stackCheck(fn.Code, check)
	}
	if r.lone != nil {
		p.fuse(r, general)
	}
	p.Resume = p.here()
	p.Fill(p.code)
	if check > 0 {
		p.jump(addr + p.Len)
	} else {
		c, why := Relocate(fn.Code[off:off+size], uint64(addr), uint64(p.Resume))
		if why.Reason != Fine {
			p.give()
			return nil, why
		}
		p.copy = c
		p.code = append(p.code, c.Bytes()...)
	}
	if len(p.code) > detour.Size {
		panic("optprobe: a detour is too long") // regions are at most kprobes.maxCovered
	}
	p.End = p.here()
	p.Original, p.Depth = p.original, p.depth
	return p, Obstacle{}
}

// here returns the address of the next byte.
func (p *plan) here() uintptr { return p.Head + uintptr(len(p.code)) }

// jump adds a jump. Text and detours are within reach of each other by the memory layout of
// boot.
func (p *plan) jump(to uintptr) {
	b, _ := insn.Jump(uint64(p.here()), uint64(to))
	p.code = append(p.code, b[:]...)
}

// stackCheck puts the stack check that code begins with before the rest, and makes Len
// include it with its last branch.
func (p *plan) stackCheck(code []byte, check int) {
	out, size := copyCheck(code, check, uint64(p.Addr), 0)
	p.Entry -= uintptr(len(out))
	out, _ = copyCheck(code, check, uint64(p.Addr), uint64(p.Entry))
	copy(p.code[p.Entry-p.Head:], out)
	p.Len = uintptr(size)
}

// copyCheck returns the instructions at the beginning of code, up to and including the one
// at offset check, rewritten from address from for address to, and their length in code.
// They are comparisons and branches out of them.
func copyCheck(code []byte, check int, from, to uint64) (out []byte, size int) {
	for size <= check {
		in, err := insn.Decode(code[size:])
		if err != nil {
			break // Read has checked that it decodes
		}
		if in.Flow == insn.Jcc {
			rel, _ := insn.Distance(to+uint64(len(out))+6, in.Target(from+uint64(size)))
			out = append(out, 0x0f, insn.OpJcc|in.Cond())
			out = binary.LittleEndian.AppendUint32(out, uint32(rel))
		} else {
			out = append(out, code[size:size+int(in.Len)]...)
		}
		size += int(in.Len)
	}
	return out, size
}

func (p *plan) original(ip uintptr) uintptr {
	if ip < p.Resume || p.inFused(ip) {
		return p.Addr
	}
	if at, ok := p.copy.Original(uint64(ip)); ok {
		return uintptr(at.IP)
	}
	return p.Addr + p.Len
}

func (p *plan) depth(ip uintptr) int {
	if p.inFused(ip) {
		return p.fused.Depth(int(ip - p.Slow))
	}
	if at, ok := p.copy.Original(uint64(ip)); ok && at.Pushed {
		return 1
	}
	return 0
}

// write writes the detour to the address it was laid out for.
func (p *plan) write() {
	text.WriteSlot(p.Head, p.code)
	if p.Apart != 0 {
		text.WriteSlot(p.Apart, p.apart)
	}
	p.code, p.apart = nil, nil // the rest is needed as long as the detour exists
}

// give gives back the memory of a detour that is not used.
func (p *plan) give() {
	since := grace.Now()
	kprobes.Detours().Put(p.Head, &since, nil)
	if p.Apart != 0 {
		kprobes.Detours().Put(p.Apart, &since, nil)
	}
}

// inFused reports whether ip is in code that has the handler in it.
func (p *plan) inFused(ip uintptr) bool { return p.fused != nil && ip >= p.Slow && ip < p.Past }
