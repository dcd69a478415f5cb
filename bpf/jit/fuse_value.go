package jit

import (
	"math"

	"sonde/bpf"
)

// value is what a register of the program holds.
type value struct {
	kind   kind
	n      int64 // a number; the distance of an address, from the GS base, or an offset; of a loaded value, what is added
	reg    reg   // the register that has it; or the index of an element
	direct bool  // of an element, and of what was loaded: n is from 0, not from the GS base
	scale  uint8 // of an index: how many bytes it counts, 1 or 8; 0: there is none
	span         // of a register: what it is between
	plus   bool  // of a loaded value: from is what it was loaded from
	from   int64
	more   reg  // a register that is added to a loaded value
	adds   bool // there is one
}

// kind is what kind of value it is.
type kind uint8

const (
	isUnknown  kind = iota
	isNumber        // n
	isPlace         // a register of the place, which the code does not change
	isComputed      // a scratch register
	isContext       // the address of the context, and n
	isFrame         // the end of the stack, and n
	isMap           // n is the map's index
	isElement       // the address of an element: n at GS, and an index
	isLoaded        // what was loaded from an element, and what has been added since
	isShared        // an address that is the same on all CPUs: n
	isContents      // what is there
)

// needs reports whether the value is lost if a register changes.
func (v *value) needs(r reg) bool {
	switch v.kind {
	case isPlace, isComputed:
		return v.reg == r
	case isElement, isLoaded:
		return v.scale != 0 && v.reg == r || v.adds && v.more == r
	}
	return false
}

// whole reports whether a register can have the value as a number.
func (v *value) whole() bool {
	return v.kind == isNumber || v.kind == isPlace || v.kind == isComputed || v.kind == isContents
}

// scratch takes a register that nothing needs.
func (f *fuser) scratch() reg {
	for i, s := range f.site.Scratch {
		if r := reg(s); f.held&(1<<r) == 0 && f.now.holds(r) == 0 {
			f.held |= 1 << r
			f.used = max(f.used, i+1)
			return r
		}
	}
	f.fail("more than %d registers are needed at once", len(f.site.Scratch))
	return 0
}

// register returns a register that has a value, which the code must not change.
func (f *fuser) register(v value) reg {
	switch v.kind {
	case isPlace, isComputed:
		f.held |= 1 << v.reg
		return v.reg
	case isNumber:
		r := f.scratch()
		f.code.set(r, uint64(v.n))
		return r
	case isContents:
		r := f.scratch()
		if fits32(v.n) {
			f.at(true, opLoad, r, operand{n: v.n, shared: true})
			return r
		}
		f.code.set(r, uint64(v.n))
		f.mem(true, opLoad, r, memory{r, 0})
		return r
	}
	if v.kind == isLoaded {
		return f.load(v)
	}
	f.fail("what is not a number is used as one, or is not known")
	return 0
}

// own returns a register that has the value of a register of the program, and that may be changed for its new value.
func (f *fuser) own(dst uint8) reg {
	v := f.now.regs[dst]
	if v.kind == isComputed && f.now.holds(v.reg) == 1 {
		f.held |= 1 << v.reg
		return v.reg
	}
	if v.kind == isNumber || v.kind == isContents || v.kind == isLoaded {
		return f.register(v)
	}
	from := f.register(v)
	r := f.scratch()
	f.move(true, r, from)
	return r
}

// compute compiles arithmetic.
func (f *fuser) compute(in bpf.Insn) {
	dst := in.Dst()
	a, b := f.now.regs[dst], value{kind: isNumber, n: int64(number(in))}
	if in.UsesSrc() && in.Operation() != bpf.End {
		b = f.now.regs[in.Src()]
	}
	if f.dead(f.pc, in) {
		return
	}
	if v, ok := f.symbolic(in, a, b); ok {
		f.now.regs[dst] = v
		return
	}
	switch op := in.Operation(); {
	case op == bpf.Mov:
		f.moves(in, b)
		return
	case (op == bpf.Div || op == bpf.Mod) && b.kind == isNumber && b.n != 0 && b.n != -1 && int64(int32(b.n)) == b.n:
		f.divides(in, int32(b.n))
		return
	case op == bpf.Div || op == bpf.Mod:
		f.fail("the divisor is not a number that is known, or is 0 or -1")
	case (op == bpf.Lsh || op == bpf.Rsh || op == bpf.Arsh) && b.kind != isNumber:
		f.fail("by how much it shifts is not known")
	}
	if by := sumOf(in, b); by != 0 && (a.kind == isPlace || a.kind == isComputed) {
		f.now.regs[dst] = f.plus(dst, int32(by))
		return
	}
	d := f.own(dst)
	if in.UsesSrc() && in.Operation() != bpf.End {
		if b.kind == isNumber && b.n == int64(int32(b.n)) {
			in.Op, in.Imm = in.Op&^bpf.X, int32(b.n)
		} else {
			f.file[in.Src()] = f.register(b)
		}
	}
	f.file[dst] = d
	f.arithmetic(in)
	f.now.regs[dst] = value{kind: isComputed, reg: d, span: a.span.after(in, b)}
}

// sumOf is what an instruction adds, if that is a number that has room in an instruction; 0: it does something else.
func sumOf(in bpf.Insn, b value) int64 {
	if op := in.Operation(); in.Class() != bpf.ALU64 || b.kind != isNumber || !fits32(b.n) || !fits32(-b.n) {
		return 0
	} else if op == bpf.Add {
		return b.n
	} else if op == bpf.Sub {
		return -b.n
	}
	return 0
}

// plus returns the sum of a register of the program and a number, which one instruction computes.
func (f *fuser) plus(dst uint8, n int32) value {
	v := f.now.regs[dst]
	from := f.register(v)
	d := from
	if v.kind == isPlace || f.now.holds(from) > 1 {
		d = f.scratch()
	}
	f.mem(true, opLea, d, memory{from, n})
	return value{kind: isComputed, reg: d, span: v.span.plus(int64(n))}
}

// symbolic returns what is known of a result without code.
func (f *fuser) symbolic(in bpf.Insn, a, b value) (v value, ok bool) {
	op := in.Operation()
	plain := in.Class() == bpf.ALU64 && in.Off == 0
	switch {
	case op == bpf.Mov && plain:
		return b, true
	case op == bpf.Mov && in.Off == 0 && b.kind == isNumber:
		return value{kind: isNumber, n: int64(uint32(b.n))}, true
	case op == bpf.Mul && plain && a.kind == isNumber && b.kind == isNumber:
		return value{kind: isNumber, n: a.n * b.n}, true
	case !plain || op != bpf.Add && op != bpf.Sub:
		return v, false
	case op == bpf.Sub && b.kind == isNumber:
		b.n = -b.n
	case op == bpf.Sub:
		return v, false
	}
	if b.kind >= isContext && (a.kind == isPlace || a.kind == isComputed || a.kind == isNumber) {
		a, b = b, a
	}
	switch {
	case b.kind == isNumber && (a.kind == isNumber || a.kind == isContext || a.kind == isFrame || a.kind == isElement || a.kind == isShared || a.kind == isLoaded):
		a.n += b.n
		return a, true
	case a.kind == isElement && a.scale == 0 && (b.kind == isPlace || b.kind == isComputed):
		a.reg, a.scale = b.reg, 1
		return a, true
	case a.kind == isLoaded && !a.adds && (b.kind == isPlace || b.kind == isComputed):
		a.more, a.adds = b.reg, true
		return a, true
	}
	return v, false
}

// moves compiles moves that change the value.
func (f *fuser) moves(in bpf.Insn, b value) {
	from := f.register(b)
	d := f.scratch()
	f.moveInsn(in, d, from)
	f.now.regs[in.Dst()] = value{kind: isComputed, reg: d}
}

// divides compiles a division by a number. The processor divides AX and DX, which get back what they had.
func (f *fuser) divides(in bpf.Insn, by int32) {
	d := f.own(in.Dst())
	keepAX, keepDX := f.scratch(), f.scratch()
	wide := in.Is64()
	f.move(true, keepAX, ax)
	f.move(true, keepDX, dx)
	f.move(wide, ax, d)
	f.code.set(d, number(bpf.Insn{Op: in.Op, Imm: by}))
	if in.Off == 1 {
		f.opcode(wide, 0x99, 0, 0, ax) // cqo, cdq
		f.regs(wide, opGroup3, opIdiv, d)
	} else {
		f.clear(dx)
		f.regs(wide, opGroup3, opDiv, d)
	}
	result := ax
	if in.Operation() == bpf.Mod {
		result = dx
	}
	f.move(wide, d, result)
	f.move(true, ax, keepAX)
	f.move(true, dx, keepDX)
	f.now.regs[in.Dst()] = value{kind: isComputed, reg: d}
}

// compares puts a comparison that sets the flags.
func (f *fuser) compares(in bpf.Insn) {
	dst, src := in.Dst(), in.Src()
	a := f.now.regs[dst]
	wide := in.Is64()
	if in.UsesSrc() {
		if b := f.now.regs[src]; b.kind == isNumber && b.n == int64(int32(b.n)) {
			in.Op, in.Imm = in.Op&^bpf.X, int32(b.n)
		} else {
			f.file[src] = f.register(b)
		}
	}
	if a.kind == isContents && !in.UsesSrc() && in.Operation() != bpf.Jset {
		f.comparesContents(wide, a.n, in.Imm)
		return
	}
	f.file[dst] = f.register(a)
	f.compare(in)
}

// comparesContents compares memory of all CPUs with a number.
func (f *fuser) comparesContents(wide bool, addr int64, n int32) {
	m := operand{n: addr, shared: true}
	if !fits32(addr) {
		m = operand{base: f.scratch(), hasBase: true, shared: true}
		f.code.set(m.base, uint64(addr))
	}
	if n == int32(int8(n)) {
		f.at(wide, opGroup1, opCmp, m)
		f.put(byte(n))
		return
	}
	f.at(wide, 0x81, opCmp, m)
	f.imm32(n)
}

// decided reports whether a comparison is decided, and how: of two numbers, or of an address with 0.
func (f *fuser) decided(in bpf.Insn) (taken, ok bool) {
	a, b := f.now.regs[in.Dst()], value{kind: isNumber, n: int64(in.Imm)}
	if in.UsesSrc() {
		b = f.now.regs[in.Src()]
	}
	if b.kind != isNumber {
		return false, false
	}
	if a.kind == isElement && b.n == 0 && in.Is64() {
		return in.Operation() == bpf.Jne, in.Operation() == bpf.Jeq || in.Operation() == bpf.Jne
	}
	if a.kind != isNumber {
		return false, false
	}
	x, y := a.n, b.n
	ux, uy := uint64(x), uint64(y)
	if !in.Is64() {
		x, y, ux, uy = int64(int32(x)), int64(int32(y)), uint64(uint32(ux)), uint64(uint32(uy))
	}
	switch in.Operation() {
	case bpf.Jeq:
		return x == y, true
	case bpf.Jne:
		return x != y, true
	case bpf.Jset:
		return ux&uy != 0, true
	case bpf.Jgt:
		return ux > uy, true
	case bpf.Jge:
		return ux >= uy, true
	case bpf.Jlt:
		return ux < uy, true
	case bpf.Jle:
		return ux <= uy, true
	case bpf.Jsgt:
		return x > y, true
	case bpf.Jsge:
		return x >= y, true
	case bpf.Jslt:
		return x < y, true
	}
	return x <= y, true
}

// fits32 reports whether a number can stand in an instruction.
func fits32(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }
