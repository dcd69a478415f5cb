// Package random makes programs by chance, to compare what executes them: interpreter, compiler, kernel.
//
// A verifier can accept them: what is read was written, loops end, pointers are not mixed with numbers, so
// that the result does not depend on where memory and stack lie. R1 is the address of MemorySize bytes.
package random

import (
	"math/rand/v2"

	"sonde/bpf"
)

const (
	MemorySize = 64 // bytes that programs access after R1
	stackUsed  = 64 // below R10, in each function
)

// Helpers are what programs call, by number.
type Helpers struct {
	Any  []int32 // nil: none
	Back int32   // calls a function of the program, with the words after its address; 0: none
}

// OnMap makes a program that calls another one, and writes its result after its memory: both are the first
// value of the program's only map, an array.
func OnMap(insns []bpf.Insn) []bpf.Insn {
	first := bpf.Insn{Op: uint8(bpf.LD) | bpf.Imm64 | bpf.DW, Regs: regs(1, bpf.MapIdxVal)}
	second := first
	second.Regs = regs(2, bpf.MapIdxVal)
	return append([]bpf.Insn{
		first, {},
		{Op: uint8(bpf.JMP) | bpf.Call, Regs: regs(0, bpf.CallLocal), Imm: 5},
		second, {},
		{Op: uint8(bpf.STX) | bpf.Mem | bpf.DW, Regs: regs(2, 0), Off: MemorySize},
		{Op: uint8(bpf.ALU64) | bpf.Mov},
		{Op: uint8(bpf.JMP) | bpf.Exit},
	}, insns...)
}

// Map is the map of such a program.
var Map = bpf.MapSpec{Name: "memory", Type: bpf.Array, KeySize: 4, ValueSize: MemorySize + 8, MaxEntries: 1}

// generator has an idea of what registers hold.
type generator struct {
	*rand.Rand
	helpers   Helpers
	functions [][]bpf.Insn
	fixed     uint16 // registers that must stay: pointers, counters of loops
	base      uint8  // has the address of the memory
	index     int    // of the function
	count     int    // of functions
	loops     int    // around what is generated
}

// Program makes a program of up to 4 functions, the same of equal seeds.
func Program(seed1, seed2 uint64, h Helpers) []bpf.Insn {
	g := &generator{Rand: rand.New(rand.NewPCG(seed1, seed2)), helpers: h}
	g.count = 1 + max(g.IntN(6)-2, 0)
	for g.index = range g.count {
		g.functions = append(g.functions, g.function())
	}
	return g.link()
}

// link puts the functions after each other. Until then a local call has the number of the
// function that it calls.
func (g *generator) link() (insns []bpf.Insn) {
	var entries []int
	for _, f := range g.functions {
		entries = append(entries, len(insns))
		insns = append(insns, f...)
	}
	for pc, in := range insns {
		if in.Op == uint8(bpf.JMP)|bpf.Call && in.Src() == bpf.CallLocal ||
			in.IsWide() && in.Src() == bpf.Function {
			insns[pc].Imm = int32(entries[in.Imm] - pc - 1)
		}
	}
	return insns
}

func regs(dst, src uint8) uint8 { return dst | src<<4 }

func alu(op, dst, src uint8) bpf.Insn {
	return bpf.Insn{Op: uint8(bpf.ALU64) | op | bpf.X, Regs: regs(dst, src)}
}

// number returns one that is likely to be special.
func (g *generator) number() int32 {
	special := []int32{0, 1, -1, 2, 31, 32, 33, 63, 64, 127, 128, -128, -129, 255, 1 << 15, -1 << 31, 1<<31 - 1}
	if g.IntN(3) > 0 {
		return special[g.IntN(len(special))]
	}
	return int32(g.Uint32())
}

// constant loads a number into r.
func (g *generator) constant(r uint8) []bpf.Insn {
	switch g.IntN(3) {
	case 0:
		return []bpf.Insn{{Op: uint8(bpf.ALU64) | bpf.Mov, Regs: r, Imm: g.number()}}
	case 1:
		return []bpf.Insn{{Op: uint8(bpf.ALU) | bpf.Mov, Regs: r, Imm: g.number()}}
	}
	return []bpf.Insn{{Op: uint8(bpf.LD) | bpf.Imm64 | bpf.DW, Regs: r, Imm: g.number()}, {Imm: g.number()}}
}

// function makes one: everything is written, then comes a block, then R0 gets something of all.
func (g *generator) function() (insns []bpf.Insn) {
	g.base = []uint8{1, 2, 5, 6, 7, 8, 9}[g.IntN(7)]
	if g.index < g.count-1 || g.IntN(2) == 0 {
		g.base = 6 + uint8(g.IntN(4)) // it survives calls
	}
	g.fixed = 1<<g.base | 1<<bpf.R10
	insns = append(insns, alu(bpf.Mov, g.base, 1))
	for r := range uint8(bpf.R10) {
		if r != g.base && (g.index == 0 || r < 2 || r > 4) {
			insns = append(insns, g.constant(r)...)
		}
	}
	if g.index > 0 && g.base > 1 && g.base < 6 { // it was an argument
		insns = append(insns, g.constant(1)...)
	}
	for at := int16(8); at <= stackUsed; at += 8 {
		insns = append(insns, bpf.Insn{Op: uint8(bpf.ST) | bpf.Mem | bpf.DW, Regs: bpf.R10, Off: -at, Imm: g.number()})
	}
	insns = append(insns, g.block(2+g.IntN(12))...)
	for r := uint8(1); r < bpf.R10; r++ {
		if r != g.base {
			insns = append(insns, bpf.Insn{Op: uint8(bpf.ALU64) | bpf.Mul, Regs: 0, Imm: 31}, alu(bpf.Xor, 0, r))
		}
	}
	scratch := uint8(3)
	if g.base == scratch {
		scratch = 4
	}
	for at := int16(8); at <= stackUsed; at += 8 {
		insns = append(insns, bpf.Insn{Op: uint8(bpf.LDX) | bpf.Mem | bpf.DW, Regs: regs(scratch, bpf.R10), Off: -at}, alu(bpf.Add, 0, scratch))
	}
	return append(insns, bpf.Insn{Op: uint8(bpf.JMP) | bpf.Exit})
}

// block makes n pieces. Some begin with a jump over pieces after them.
func (g *generator) block(n int) (insns []bpf.Insn) {
	var starts []int
	jumps := map[int]int{} // pc, and the piece that it leads to
	for i := range n {
		starts = append(starts, len(insns))
		if g.IntN(3) == 0 {
			jumps[len(insns)] = i + 1 + g.IntN(n-i)
			insns = append(insns, g.condition())
		}
		insns = append(insns, g.piece()...)
	}
	starts = append(starts, len(insns))
	for pc, to := range jumps {
		d := starts[to] - pc - 1
		if insns[pc].Class() == bpf.JMP32 && insns[pc].Operation() == bpf.Ja {
			insns[pc].Imm = int32(d)
		} else {
			insns[pc].Off = int16(d)
		}
	}
	return insns
}

func (g *generator) condition() bpf.Insn {
	class := []bpf.Class{bpf.JMP, bpf.JMP32}[g.IntN(2)]
	op := []uint8{bpf.Ja, bpf.Jeq, bpf.Jgt, bpf.Jge, bpf.Jset, bpf.Jne, bpf.Jsgt, bpf.Jsge, bpf.Jlt, bpf.Jle, bpf.Jslt, bpf.Jsle}[g.IntN(12)]
	switch {
	case op == bpf.Ja:
		return bpf.Insn{Op: uint8(class) | op}
	case g.IntN(2) == 0:
		return bpf.Insn{Op: uint8(class) | op, Regs: g.scalar(), Imm: g.number()}
	}
	return bpf.Insn{Op: uint8(class) | op | bpf.X, Regs: regs(g.scalar(), g.scalar())}
}

// scalar returns a register that holds a number and can be written.
func (g *generator) scalar() uint8 {
	for {
		if r := uint8(g.IntN(bpf.R10)); g.fixed&(1<<r) == 0 {
			return r
		}
	}
}

func (g *generator) piece() []bpf.Insn {
	switch n := g.IntN(40); {
	case n < 20:
		return []bpf.Insn{g.arithmetic()}
	case n < 30:
		return []bpf.Insn{g.access()}
	case n < 33:
		return g.viaPointer()
	case n < 35:
		return g.call()
	case n < 37 && g.loops < 2:
		return g.loop()
	case n == 39 && g.IntN(4) == 0:
		return g.filler()
	}
	return g.constant(g.scalar())
}

// filler is long, so that jumps over it are.
func (g *generator) filler() (insns []bpf.Insn) {
	for range 30 {
		insns = append(insns, g.arithmetic())
	}
	return insns
}

func (g *generator) arithmetic() bpf.Insn {
	in := bpf.Insn{Op: uint8([]bpf.Class{bpf.ALU, bpf.ALU64}[g.IntN(2)]), Regs: g.scalar()}
	op := []uint8{bpf.Add, bpf.Sub, bpf.Mul, bpf.Div, bpf.Or, bpf.And, bpf.Lsh, bpf.Rsh, bpf.Neg, bpf.Mod, bpf.Xor, bpf.Mov, bpf.Arsh, bpf.End}[g.IntN(14)]
	in.Op |= op
	switch {
	case op == bpf.Neg:
		return in
	case op == bpf.End:
		in.Imm = []int32{16, 32, 64}[g.IntN(3)]
		if !in.Is64() && g.IntN(2) == 0 {
			in.Op |= bpf.X
		}
		return in
	case g.IntN(2) == 0:
		in.Imm = operand(in, g.number())
	default:
		in.Op |= bpf.X
		in.Regs |= g.scalar() << 4
	}
	switch {
	case op == bpf.Div || op == bpf.Mod:
		in.Off = int16(g.IntN(2))
	case op == bpf.Mov && in.UsesSrc():
		widths := []int16{0, 8, 16, 32}
		in.Off = widths[g.IntN(len(widths)-1)]
		if in.Is64() {
			in.Off = widths[g.IntN(len(widths))]
		}
	}
	return in
}

// operand is imm, or what is left of it where verifiers refuse a constant: by 0 nothing is divided, and nothing is
// shifted by more bits than it has.
func operand(in bpf.Insn, imm int32) int32 {
	switch in.Operation() {
	case bpf.Div, bpf.Mod:
		if imm == 0 {
			return 1
		}
	case bpf.Lsh, bpf.Rsh, bpf.Arsh:
		if in.Is64() {
			return imm & 63
		}
		return imm & 31
	}
	return imm
}

// place returns a register and an offset by which size bytes can be accessed.
func (g *generator) place(size, aligned int) (r uint8, off int16) {
	at := g.IntN(MemorySize-size+1) / aligned * aligned
	if g.IntN(2) == 0 {
		return bpf.R10, int16(at - stackUsed)
	}
	return g.base, int16(at)
}

// access makes a load, a store or an atomic.
func (g *generator) access() bpf.Insn {
	size := []uint8{bpf.B, bpf.H, bpf.W, bpf.DW}[g.IntN(4)]
	in := bpf.Insn{Op: size}
	r, off := g.place(in.Size(), 1)
	in.Off = off
	switch g.IntN(5) {
	case 0:
		in.Op, in.Regs = in.Op|uint8(bpf.LDX)|bpf.Mem, regs(g.scalar(), r)
		if size != bpf.DW && g.IntN(2) == 0 {
			in.Op = size | uint8(bpf.LDX) | bpf.MemSX
		}
	case 1:
		in.Op, in.Regs, in.Imm = in.Op|uint8(bpf.ST)|bpf.Mem, r, g.number()
	case 2:
		in.Op, in.Regs = in.Op|uint8(bpf.STX)|bpf.Mem, regs(r, g.scalar())
	default:
		return g.atomic()
	}
	return in
}

func (g *generator) atomic() bpf.Insn {
	in := bpf.Insn{Op: uint8(bpf.STX) | bpf.Atomic | []uint8{bpf.W, bpf.DW}[g.IntN(2)]}
	r, off := g.place(in.Size(), in.Size())
	in.Regs, in.Off = regs(r, g.scalar()), off
	in.Imm = []int32{int32(bpf.Add), int32(bpf.Or), int32(bpf.And), int32(bpf.Xor)}[g.IntN(4)] | int32(g.IntN(2))
	switch g.IntN(4) {
	case 0:
		in.Imm = bpf.Xchg
	case 1:
		if g.fixed&1 == 0 { // it writes R0
			in.Imm = bpf.Cmpxchg
		}
	}
	return in
}

// viaPointer makes an access by a register that is a pointer for the time of it.
func (g *generator) viaPointer() []bpf.Insn {
	r := g.scalar()
	g.fixed |= 1 << r
	in := g.access()
	g.fixed &^= 1 << r
	d := int32(g.IntN(1 << 12))
	from, to := &in.Regs, r // which half has the address
	base := *from & 15
	if in.Class() == bpf.LDX {
		base = *from >> 4
		in.Regs = in.Regs&15 | to<<4
	} else {
		in.Regs = in.Regs&0xF0 | to
	}
	in.Off += int16(d)
	insns := []bpf.Insn{alu(bpf.Mov, r, base), {Op: uint8(bpf.ALU64) | bpf.Sub, Regs: r, Imm: d}, in}
	return append(insns, g.constant(r)...)
}

// call makes a call of a helper or a function, and writes what it leaves unwritten.
func (g *generator) call() (insns []bpf.Insn) {
	if g.base < 6 || g.fixed&^(1<<bpf.R10)&0x3F != 0 {
		return g.constant(g.scalar())
	}
	in := bpf.Insn{Op: uint8(bpf.JMP) | bpf.Call}
	switch callee := g.index + 1 + g.IntN(4); {
	case callee < g.count && g.loops < 2:
		in.Regs, in.Imm = bpf.CallLocal<<4, int32(callee)
		insns = []bpf.Insn{alu(bpf.Mov, 1, g.base)}
		if g.IntN(3) == 0 && g.helpers.Back != 0 {
			in.Regs, in.Imm = 0, g.helpers.Back
			insns = []bpf.Insn{{Op: uint8(bpf.LD) | bpf.Imm64 | bpf.DW, Regs: regs(1, bpf.Function), Imm: int32(callee)}, {},
				alu(bpf.Mov, 2, g.base)}
		}
	case len(g.helpers.Any) == 0:
		return g.constant(g.scalar())
	default:
		in.Imm = g.helpers.Any[g.IntN(len(g.helpers.Any))]
	}
	insns = append(insns, in)
	for r := uint8(1); r < 6; r++ {
		insns = append(insns, g.constant(r)...)
	}
	return insns
}

// loop makes a block that runs a few times.
func (g *generator) loop() []bpf.Insn {
	counter := g.scalar()
	before := g.fixed
	g.fixed |= 1 << counter
	g.loops++
	body := g.block(1 + g.IntN(4))
	g.loops--
	g.fixed = before
	insns := []bpf.Insn{{Op: uint8(bpf.ALU64) | bpf.Mov, Regs: counter, Imm: int32(1 + g.IntN(3))}}
	insns = append(insns, body...)
	return append(insns, bpf.Insn{Op: uint8(bpf.ALU64) | bpf.Add, Regs: counter, Imm: -1},
		bpf.Insn{Op: uint8(bpf.JMP) | bpf.Jne, Regs: counter, Off: int16(-len(body) - 2)})
}
