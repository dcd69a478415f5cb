package replay

import (
	"fmt"
	"strings"

	"sonde/arch/amd64/listing"
	"sonde/kallsyms"
	"sonde/probe/glass"
)

// A Take is the frames of a hit and what does not change between hits.
type Take struct {
	Addr           uint64 // the probed place
	Watch          string // what is watched, as people write it; "": the place is probed
	Func, FuncSize uint64
	Slot           uint64 // the copy of the instruction; 0: none
	Resume, Back   uint64 // the copy in the detour, and where it continues; 0: there is no detour
	Original       []byte // the code at Addr without probes
	Fused          []byte // what a hit executes when there is no camera, if that has the program in it; nil: the same
	FusedAt        uint64 // where
	Hit            uint64
	Frames         []glass.Frame
	Lost           int
	Complete       bool   // the hit is over
	Explain        string // what explain -s prints of the place

	Symbol func(addr uint64) (name string, base uint64, ok bool)
	Line   func(addr uint64) (file string, line int)
	Nanos  func(tsc uint64) int64
	// Accessor returns the address of the instruction before ip.
	Accessor func(ip uint64) uint64
}

// A Recording is a Take in words.
type Recording struct {
	Place    string
	File     string
	Line     int
	Tier     string
	Hit      uint64
	Lost     int
	Complete bool
	Original []Code
	Fused    []Code
	Explain  string
	Frames   []Frame
}

// Code is an instruction.
type Code struct {
	Addr  uint64
	Bytes []byte
	Asm   string
}

// A Frame is one transition. What has not changed since the frame before is left out.
type Frame struct {
	Seq       int
	T         int64 // ns since the first frame
	CPU       int
	Goroutine uint64
	PID, TID  int // of the program's thread; 0: the kernel
	Stage     string
	Says      string
	IP        *Spot // nil: the stage has none
	Regs      []Reg // all in the first frame
	Text      []byte
	Stack     []Word
}

// A Spot is an address with what is there.
type Spot struct {
	Addr  uint64
	Is    string
	Asm   string
	Bytes []byte // in memory at Addr; nil: not recorded
}

// A Reg is a register with its value.
type Reg struct {
	Name  string
	Value uint64
}

// A Word is a word on the stack, with what it is if it is an address of code.
type Word struct {
	Addr, Value uint64
	Is          string
}

// regNames are the registers as frames have them.
var regNames = [glass.NumRegs]string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "IP", "FLAGS"}

// regOrder is the order in which they are shown: Go's arguments first.
var regOrder = [glass.NumRegs]int{0, 3, 1, 7, 6, 8, 9, 10, 11, 2, 12, 13, 14, 15, 5, 4, glass.IP, glass.Flags}

// sp is the number of the stack pointer.
const sp = 4

// Recording puts t into words.
func (t *Take) Recording() *Recording {
	rec := &Recording{Place: t.where(t.Addr), Hit: t.Hit, Lost: t.Lost, Complete: t.Complete, Explain: t.Explain, Tier: tier(t.Frames)}
	if t.Watch != "" {
		rec.Place = t.Watch
	}
	rec.File, rec.Line = t.Line(t.Addr)
	rec.Original = t.original()
	for at := 0; at < len(t.Fused); {
		n, text := t.asm(t.FusedAt+uint64(at), t.Fused[at:])
		rec.Fused = append(rec.Fused, Code{t.FusedAt + uint64(at), t.Fused[at : at+n], text})
		at += n
	}
	var last *glass.Frame // with registers
	for i := range t.Frames {
		f := &t.Frames[i]
		rec.Frames = append(rec.Frames, t.frame(i, f, last))
		if f.Has&glass.HasRegs != 0 {
			last = f
		}
	}
	return rec
}

// frame puts f into words; last is the frame with registers before it, nil for none.
func (t *Take) frame(i int, f, last *glass.Frame) Frame {
	out := Frame{Seq: i + 1, T: t.Nanos(f.Time - t.Frames[0].Time), CPU: int(f.CPU), Goroutine: f.Goroutine, PID: int(f.PID), TID: int(f.TID)}
	out.Stage, out.Says = stages[f.Stage].name, t.says(f)
	if f.Stage == glass.Returned && t.program(f) != "" {
		out.Says = fmt.Sprintf("%s has run, and %s", t.role(f), t.changed(f, last))
	}
	if f.Has&glass.HasRegs == 0 {
		return out
	}
	if f.Stage != glass.Jumped {
		out.IP = t.spot(f)
	}
	for _, n := range regOrder {
		if n == glass.IP && f.Stage == glass.Jumped {
			continue
		}
		if last == nil || f.Regs[n] != last.Regs[n] || n == glass.IP && last.Stage == glass.Jumped {
			out.Regs = append(out.Regs, Reg{regNames[n], f.Regs[n]})
		}
	}
	if f.Has&glass.HasText != 0 && (last == nil || f.Text != last.Text) {
		out.Text = f.Text[:]
	}
	for n := range int(f.Words) {
		if last != nil && last.Regs[sp] == f.Regs[sp] && n < int(last.Words) && last.Stack[n] == f.Stack[n] {
			continue
		}
		w := Word{Addr: f.Regs[sp] + 8*uint64(n), Value: f.Stack[n]}
		if name, _, ok := t.Symbol(w.Value); ok && name != "" {
			w.Is = t.whereLine(w.Value)
		}
		out.Stack = append(out.Stack, w)
	}
	return out
}

// original lists the instructions of the first bytes at the place, as far as a jump would cover them.
func (t *Take) original() (list []Code) {
	const jump = 5
	for at := 0; at < min(jump, len(t.Original)); {
		in, text := t.asm(t.Addr+uint64(at), t.Original[at:])
		end := min(at+in, len(t.Original))
		list = append(list, Code{t.Addr + uint64(at), t.Original[at:end], text})
		at = end
	}
	return list
}

func (t *Take) asm(addr uint64, code []byte) (n int, text string) {
	f := listing.Function{Addr: t.Func, Size: t.FuncSize, Name: func(addr uint64) (string, uint64) {
		name, base, _ := t.Symbol(addr)
		return name, base
	}}
	in, text := f.Asm(addr, code)
	return max(int(in.Len), 1), text
}

// spot says what IP of f leads to.
func (t *Take) spot(f *glass.Frame) *Spot {
	ip := f.Regs[glass.IP]
	s := &Spot{Addr: ip, Is: t.whereLine(ip)}
	switch {
	case t.Slot != 0 && ip-t.Slot < slotSize:
		s.Is = fmt.Sprintf("slot of %s%s", t.where(t.Addr), beyond(ip-t.Slot))
	case t.Resume != 0 && ip == t.Resume:
		s.Is = fmt.Sprintf("detour's copy, goes on at %s", t.where(t.Back))
	}
	if f.Has&glass.HasCode != 0 {
		s.Bytes = f.Code[:]
	}
	if f.Stage == glass.Trampoline && f.PID != 0 {
		s.Is = "the trampoline in [uprobes]"
	}
	if ip == t.Addr+1 && t.Frames[0].Stage == glass.Jumped {
		s.Is += ", as handlers are told"
	}
	switch {
	case ip == t.Addr+1 || f.Stage == glass.Leaves: // after an INT3, within the instruction
	case ip == t.Addr && len(t.Original) > 0:
		_, s.Asm = t.asm(ip, t.Original) // not the breakpoint
	case f.Has&glass.HasCode != 0:
		_, s.Asm = t.asm(ip, f.Code[:])
	}
	return s
}

// slotSize is how long a slot may be.
const slotSize = 32

func beyond(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d bytes in", n)
}

// where is an address as people call it, without the path of the package.
func (t *Take) where(addr uint64) string {
	name, base, ok := t.Symbol(addr)
	if !ok {
		return fmt.Sprintf("%#x", addr)
	}
	return fmt.Sprintf("%s+%#x", kallsyms.Base(name), addr-base)
}

// whereLine is where with the name of the file, without its path, and the line.
func (t *Take) whereLine(addr uint64) string {
	s := t.where(addr)
	if file, line := t.Line(addr); file != "" {
		s += fmt.Sprintf(" %s:%d", file[strings.LastIndexByte(file, '/')+1:], line)
	}
	return s
}
