package bpf

import (
	"slices"
	"strings"
)

// lockSigns is the operations of atomics that do not fetch, and fetches those that do; lockOps is
// what they are, in the same order.
var (
	lockSigns = []string{"+=", "|=", "&=", "^="}
	fetches   = []string{"atomic_fetch_add", "atomic_fetch_or", "atomic_fetch_and", "atomic_fetch_xor"}
	lockOps   = []uint8{Add, Or, And, Xor}
)

// exchanges is the atomics whose names tell their width.
var exchanges = map[token]Insn{
	"xchg_64":      {Op: DW, Imm: Xchg},
	"xchg32_32":    {Op: W, Imm: Xchg},
	"cmpxchg_64":   {Op: DW, Imm: Cmpxchg},
	"cmpxchg32_32": {Op: W, Imm: Cmpxchg},
}

// lock reads "*(u64 *)(r1 + 0) += r2".
func (a *assembler) lock() {
	a.expect("*")
	in := a.atomicPlace()
	in.Imm = int32(lockOps[a.oneOf("+=, |=, &= or ^=", lockSigns)])
	in.Regs |= a.sameWidth(in.Size() == 8) << 4
	a.emit(in)
}

// atomicPlace reads "(u64 *)(r1 + 0)".
func (a *assembler) atomicPlace() Insn {
	at := a.rest
	op, r, off := a.pointer()
	if a.err == nil && op != Mem|W && op != Mem|DW {
		a.rest = at[1:]
		a.fail("u32 or u64, the types of atomics")
	}
	return Insn{Op: uint8(STX) | Atomic | op&DW, Regs: r, Off: off}
}

func (a *assembler) isAtomic(t token) bool {
	_, ok := exchanges[t]
	return ok || slices.Contains(fetches, string(t))
}

// fetch reads what stands after "r2 =" in the atomics that fetch. Their result goes to the
// register that also is their operand, or to R0.
func (a *assembler) fetch(dst uint8, whole bool) {
	name := a.peek()
	in, exchange := exchanges[name]
	a.skip()
	a.expect("(")
	if exchange {
		in.Op |= uint8(STX) | Atomic
		in.Regs, in.Off = a.sum()
	} else {
		imm := int32(lockOps[slices.Index(fetches, string(name))]) | Fetch
		in = a.atomicPlace()
		in.Imm = imm
	}
	a.expect(",")
	a.operand(&in, dst, whole)
	a.expect(")")
	a.emit(in)
}

// operand reads the registers after the address in the atomics that fetch.
func (a *assembler) operand(in *Insn, dst uint8, whole bool) {
	if a.err == nil && whole != (in.Size() == 8) {
		a.errorf("found %s as the result, expected %s, which has the width of the memory", reg(dst, whole), reg(dst, !whole))
		return
	}
	if in.Imm != Cmpxchg {
		a.repeat(dst, whole)
		in.Regs |= dst << 4
		return
	}
	if dst != 0 {
		a.errorf("found %s as the result of cmpxchg, expected %s", reg(dst, whole), reg(0, whole))
		return
	}
	a.repeat(0, whole)
	a.expect(",")
	in.Regs |= a.sameWidth(whole) << 4
}

func (a *assembler) isReference(t token) bool {
	return strings.Contains(" map var subprog ", " "+string(t)+" ")
}

// reference reads a 64-bit immediate that a loader resolves.
func (a *assembler) reference(dst uint8, whole bool) {
	if !whole {
		a.fail("a number or a register: what is loaded has 64 bits")
		return
	}
	switch a.peek() {
	case "var":
		a.skip()
		a.emitWide(dst, Variable, a.bracketed("id"), 0)
	case "subprog":
		a.skip()
		a.function(dst)
	default:
		a.skip()
		a.mapReference(dst)
	}
}

// function reads "[+3]" or "[label]".
func (a *assembler) function(dst uint8) {
	a.expect("[")
	pc, distance := len(a.insns), int32(0)
	if name := a.peek(); name.isName() {
		a.skip()
		a.uses = append(a.uses, use{pc, a.line, string(name)})
	} else {
		distance = a.imm(true)
	}
	a.expect("]")
	a.emitWide(dst, Function, distance, 0)
}

// mapReference reads "[fd:5]" or "[fd:5][0]+16".
func (a *assembler) mapReference(dst uint8) {
	kind, valueKind, name := MapFD, MapFDValue, token("fd")
	if len(a.rest) > 1 && a.rest[1] == "idx" {
		kind, valueKind, name = MapIdx, MapIdxVal, "idx"
	}
	first := a.bracketed(name)
	if a.peek() != "[" {
		a.emitWide(dst, kind, first, 0)
		return
	}
	a.expect("[", "0", "]")
	a.emitWide(dst, valueKind, first, a.imm(true))
}
