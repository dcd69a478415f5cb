//go:build tamago

package optprobe

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kernel/sched"
	"sonde/kernel/text"
	"sonde/kprobes"
)

// A detour, from its beginning:
//
//	head    what kprobes finds the probe by
//	entry   the stack check, if the probe is on a function that begins with one
//	        PUSHFQ; PUSHQ R15; MOVQ $head, R15; JMP trap.SoftDetour
//	        MOVQ r.SP, SP
//	resume  the copy of the region; JMP back
//
// SoftDetour calls the handlers on the trap stack and returns to the MOVQ. A
// stack check comes before that, because one that fails is not a call yet; and
// it is not in the copy, because it must not be made twice (prologue_trap.go in
// kprobes).

const headSize = 16

// The longest detour fits: a head, a stack check of 27 bytes with its branches
// made long, the way to the handlers, and a copy.
const _ = uint(kprobes.DetourSize - headSize - 27 - 26 - maxCopy)

// plan is a detour before it is written.
type plan struct {
	kprobes.Detour
	code []byte
	copy Copy // without a stack check
}

// layout writes the detour of the probe at addr, in function code fn (original
// bytes), to be placed at head. size is the region's length, check that of the
// stack check up to its last branch, 0 for none.
func layout(fn Function, addr, head uintptr, size, check int) (*plan, Obstacle) {
	p := &plan{Detour: kprobes.Detour{Addr: addr, Head: head, Entry: head + headSize, Len: uintptr(size)}}
	off := int(uint64(addr) - fn.Addr)
	p.code = make([]byte, headSize, kprobes.DetourSize)
	if check > 0 {
		p.Len = uintptr(p.stackCheck(fn.Code, check))
	}
	p.call()
	p.Resume = p.here()
	if check > 0 {
		p.jump(addr + p.Len)
	} else {
		c, why := Relocate(fn.Code[off:off+size], uint64(addr), uint64(p.Resume))
		if why.Reason != Fine {
			return nil, why
		}
		p.copy = c
		p.code = append(p.code, c.Bytes()...)
	}
	p.Original = p.original
	return p, Obstacle{}
}

// here is the address of the next byte.
func (p *plan) here() uintptr { return p.Head + uintptr(len(p.code)) }

// jump adds a jump. Text and detours are within reach of each other: boot lays
// them out so.
func (p *plan) jump(to uintptr) {
	b, _ := Jump(uint64(p.here()), uint64(to))
	p.code = append(p.code, b[:]...)
}

// stackCheck adds the stack check that code begins with, and returns how long
// it is there, with its last branch.
func (p *plan) stackCheck(code []byte, check int) (size int) {
	for size <= check {
		in, err := insn.Decode(code[size:])
		if err != nil {
			break // Read has seen that it decodes
		}
		if in.Flow == insn.Jcc {
			to := in.Target(uint64(p.Addr)+uint64(size), code[size:])
			rel, _ := distance(uint64(p.here())+6, to)
			p.code = append(p.code, 0x0f, opJCC|in.Cond())
			p.code = binary.LittleEndian.AppendUint32(p.code, uint32(rel))
		} else {
			p.code = append(p.code, code[size:size+int(in.Len)]...)
		}
		size += int(in.Len)
	}
	return size
}

// call adds the way to the handlers and back.
func (p *plan) call() {
	p.code = append(p.code, 0x9c, 0x41, 0x57, 0x49, 0xc7, 0xc7) // PUSHFQ; PUSHQ R15; MOVQ $imm32, R15
	p.code = binary.LittleEndian.AppendUint32(p.code, uint32(p.Head))
	p.jump(trap.SoftDetourAddr())
	back := trap.DetourSwitch()
	p.code = append(p.code, back[:]...)
}

// original is Detour.Original.
func (p *plan) original(ip uintptr) uintptr {
	if ip < p.Resume {
		return p.Addr
	}
	if at, ok := p.copy.Original(uint64(ip)); ok {
		return uintptr(at.IP)
	}
	return p.Addr + p.Len
}

// Detours are given out from the memory that kprobes sets aside, and again when
// a grace period has passed since they were given back. guarded by mu
var (
	next  uintptr
	freed []free
	used  int
)

type free struct {
	d    *kprobes.Detour
	when sched.Snapshot
}

// allocate returns memory for a detour.
//
// Errors: ENOMEM.
func allocate() (uintptr, error) {
	mu.Lock()
	defer mu.Unlock()
	area := kprobes.DetourMemory()
	if next == 0 {
		next = area.Start
	}
	switch {
	case len(freed) > 0 && freed[0].when.Passed():
		head := freed[0].d.Head
		freed = freed[1:]
		used++
		return head, nil
	case next+kprobes.DetourSize <= area.End:
		next += kprobes.DetourSize
		used++
		return next - kprobes.DetourSize, nil
	}
	return 0, fmt.Errorf("all %d detours in use: %w", used, syscall.ENOMEM)
}

// release takes d's memory back. Called with mu held.
func release(d *kprobes.Detour) {
	used--
	freed = append(freed, free{d, sched.Now()})
}

// write puts the detour where it was laid out for.
func (p *plan) write() { text.WriteSlot(p.Head+headSize, p.code[headSize:]) }
