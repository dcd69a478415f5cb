package jit

import "sonde/bpf"

// Helpers that can be fused, by Linux's numbers.
const (
	lookupElement = 1
	cpuNumber     = 8
)

// calls compiles the call of a helper. next is where the program continues.
func (f *fuser) calls(in bpf.Insn, next int) {
	var result value
	args := f.now.regs
	switch {
	case in.Src() != bpf.CallHelper:
		f.fail("it calls a function")
	case in.Imm == cpuNumber:
		result = value{kind: isComputed, reg: f.scratch()}
		f.at(false, opLoad, result.reg, operand{n: int64(f.site.CPU)})
	case in.Imm == lookupElement:
		result = f.element(args[1], args[2], next)
	case in.Imm == bpf.HelperLog2:
		result = f.log2(args[1])
	case in.Imm == bpf.HelperHistAdd:
		if at := f.element(args[1], args[2], next); at.kind == isElement {
			f.counts(at, args[3])
		}
		result = value{kind: isNumber}
	default:
		f.fail("it calls a helper that is a function")
	}
	f.forgetArguments()
	f.now.regs[0] = result
}

// forgetArguments: after a call, R1 to R5 hold nothing.
func (f *fuser) forgetArguments() { clear(f.now.regs[1:6]) }

// element returns the address of the element whose key is where key points; the number 0: there is none. If the key is
// not known, the way on which there is none branches off.
func (f *fuser) element(table, key value, next int) value {
	if table.kind != isMap || key.kind != isFrame {
		f.fail("it looks into a map that is not known, or its key is not on the stack")
	}
	t, err := f.site.Table(int32(table.n))
	if err != nil {
		f.fail("%w", err)
	}
	if t.Hash != nil {
		return f.find(&t, key)
	}
	i, ok := f.now.at(key.n, 4)
	if !ok {
		i, ok = f.now.at(key.n, 8) // its lowest half
	}
	switch {
	case !ok || !i.whole():
		f.fail("the key is not known")
	case i.kind == isNumber && uint64(uint32(i.n)) >= uint64(t.Entries):
		return value{kind: isNumber}
	case i.kind == isNumber:
		return value{kind: isElement, n: int64(t.Near) + int64(uint32(i.n))*int64(t.Stride)}
	}
	e := value{kind: isElement, n: int64(t.Near), reg: f.register(i), scale: 8}
	if !i.within(int64(t.Entries)) {
		f.inside(&e, t.Entries, next)
	}
	if t.Stride != 8 {
		s := f.scratch()
		f.regs(true, 0x69, s, e.reg) // imul
		f.imm32(int32(t.Stride))
		e.reg, e.scale = s, 1
	}
	return e
}

// inside makes sure that there is an element, or goes the way on which there is none.
func (f *fuser) inside(e *value, entries uint32, next int) {
	s := f.scratch()
	f.move(false, s, e.reg)
	f.group1(false, opCmp, s, int32(entries))
	none := f.now.clone()
	clear(none.regs[1:6])
	none.regs[0] = value{kind: isNumber}
	f.branch2(aboveOrEqual, next, &none)
	e.reg = s
}

// log2 returns the number of a value's bucket: see bpf.Bucket.
func (f *fuser) log2(v value) value {
	if v.kind == isNumber {
		return value{kind: isNumber, n: int64(bpf.Bucket(v.n))}
	}
	s := f.bucket(v)
	f.group1(true, opAdd, s, 1)
	return value{kind: isComputed, reg: s, span: span{0, bpf.HistBuckets - 1, true}}
}

// counts counts a value in the histogram at an element.
func (f *fuser) counts(hist, v value) {
	at := hist.near()
	if v.kind == isNumber {
		at.n += 8 * int64(bpf.Bucket(v.n))
	} else {
		at.index, at.indexed = f.bucket(v), true
		at.n += 8
	}
	f.adds(at, value{kind: isNumber, n: 1})
}

// bucket returns a register with the number of a value's bucket, less 1: the place of the highest bit of 2v+1, or -1 if
// v is negative.
func (f *fuser) bucket(v value) reg {
	r := f.register(v)
	s := f.scratch()
	f.opcode(true, opLea, s, r, ax) // LEAQ 1(r)(r*1), s
	f.b[len(f.b)-2] |= byte(r>>3) << 1
	f.put(0x44|byte(s&7)<<3, byte(r&7)<<3|byte(r&7), 1)
	f.regs(true, 0x0FBD, s, s) // BSRQ
	sign := r
	if v.kind == isPlace || v.kind == isComputed && f.now.holds(r) > 1 {
		sign = f.scratch()
		f.move(true, sign, r)
	}
	f.shiftBy(true, opSar, sign, 63)
	f.regs(true, opOr<<3|1, sign, s)
	return s
}
