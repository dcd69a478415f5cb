package jit

import "sonde/bpf"

// operand is memory at GS, or of all CPUs: n bytes from the base, or from 0, with registers that are added.
type operand struct {
	n       int64
	shared  bool
	base    reg
	hasBase bool
	index   reg // times 8
	indexed bool
	lock    bool
}

// near returns where an element is.
func (v *value) near() operand {
	return v.element(v.n)
}

// element is the operand of an element, or of one that was loaded, at n.
func (v *value) element(n int64) operand {
	return operand{n: n, shared: v.direct, base: v.reg, hasBase: v.scale == 1, index: v.reg, indexed: v.scale == 8}
}

// load returns a register with what was loaded from an element. From here on, the CPU is held: what is computed from it may
// be stored there.
func (f *fuser) load(v value) reg {
	f.holds(true)
	r := f.scratch()
	f.at(true, opLoad, r, v.element(v.from))
	if !fits32(v.n) {
		f.fail("it adds a number of more than 32 bits to an element")
	}
	if v.n != 0 {
		f.group1(true, opAdd, r, int32(v.n))
	}
	if v.adds {
		f.regs(true, opAdd<<3|1, v.more, r)
	}
	return r
}

// at puts an operation on a register and memory, or on memory alone with r telling which.
func (f *fuser) at(wide bool, op byte, r reg, m operand) {
	if !fits32(m.n) {
		f.fail("the element is too far away")
	}
	if m.lock {
		f.put(prefixLock)
	}
	if m.shared && m.hasBase && !m.indexed {
		f.mem(wide, int(op), r, memory{m.base, int32(m.n)})
		return
	}
	if !m.shared {
		f.put(prefixGS)
	}
	rex := byte(0x40) | byte(r>>3)<<2
	if wide {
		rex |= 8
	}
	sib, mod := byte(0x25), byte(0) // neither base nor index
	switch {
	case m.hasBase && m.indexed:
		rex |= byte(m.index>>3)<<1 | byte(m.base>>3)
		sib, mod = 0xC0|byte(m.index&7)<<3|byte(m.base&7), 0x80
	case m.hasBase:
		rex |= byte(m.base >> 3)
		sib, mod = 0x20|byte(m.base&7), 0x80
	case m.indexed:
		rex |= byte(m.index>>3) << 1
		sib = 0xC5 | byte(m.index&7)<<3
	}
	if rex != 0x40 {
		f.put(rex)
	}
	f.put(op, mod|byte(r&7)<<3|4, sib)
	f.imm32(int32(m.n))
}

// wide compiles 64-bit loads.
func (f *fuser) wide(in bpf.Insn) {
	second := f.p.Insns[f.pc+1]
	switch in.Src() {
	case bpf.Number:
		f.now.regs[in.Dst()] = value{kind: isNumber, n: int64(bpf.Wide(in, second))}
	case bpf.MapIdx:
		f.now.regs[in.Dst()] = value{kind: isMap, n: int64(in.Imm)}
	case bpf.MapIdxVal:
		n, err := f.site.Resolve(in, second)
		if err != nil {
			f.fail("%w", err)
		}
		f.now.regs[in.Dst()] = value{kind: isShared, n: int64(n)}
	default:
		f.fail("it loads what code that is fused has not")
	}
}

// loads compiles loads.
func (f *fuser) loads(in bpf.Insn) {
	from, off := f.now.regs[in.Src()], int64(in.Off)
	if f.after[f.pc]&(1<<in.Dst()) == 0 {
		return // what nothing needs
	}
	var v value
	switch {
	case from.kind == isContext:
		v = f.loadsWord(in, from.n+off)
	case in.Mode() != bpf.Mem:
		f.fail("it loads with a sign")
	case from.kind == isFrame:
		var ok bool
		if v, ok = f.now.at(from.n+off, in.Size()); !ok || in.Size() < 8 && v.kind != isNumber {
			f.fail("what is there on the stack is not known")
		}
	case from.kind == isElement && in.Size() == 8:
		v = value{kind: isLoaded, from: from.n + off, reg: from.reg, scale: from.scale, direct: from.direct, plus: true}
	case from.kind == isShared && in.Size() == 8:
		v = value{kind: isContents, n: from.n + off}
	default:
		f.fail("it loads from memory that code that is fused does not read")
	}
	f.now.regs[in.Dst()] = v
}

// loadsWord loads from the context.
func (f *fuser) loadsWord(in bpf.Insn, off int64) value {
	w, err := f.site.Word(int32(off &^ 7))
	switch {
	case err != nil:
		f.fail("%w", err)
	case off&7 != 0:
		f.fail("it loads a part of a register that is not the lowest")
	case w.Kind == IsNumber && in.Size() == 8:
		return value{kind: isNumber, n: int64(w.Number)}
	case w.Kind == IsNumber:
		f.fail("it loads a part of a number")
	case w.Kind == InRegister && in.Size() == 8:
		return value{kind: isPlace, reg: reg(w.Reg)}
	}
	d := f.scratch()
	from := reg(w.Reg)
	if w.Kind == OnStack {
		f.onStack(d, byte(w.Number))
		from = d
	}
	signed := in.Mode() == bpf.MemSX
	switch in.Size() {
	case 1:
		f.regs(signed, pickOp(signed, opMovsx8, opMovzx8), d, from)
	case 2:
		f.regs(signed, pickOp(signed, opMovsx16, opMovzx16), d, from)
	case 4:
		if signed {
			f.regs(true, opMovsxd, d, from)
		} else {
			f.move(false, d, from)
		}
	}
	return value{kind: isComputed, reg: d}
}

func pickOp(signed bool, yes, no int) int {
	if signed {
		return yes
	}
	return no
}

// onStack loads a word off bytes above SP.
func (f *fuser) onStack(d reg, off byte) {
	f.opcode(true, opLoad, d, sp, ax)
	f.put(0x44|byte(d&7)<<3, 0x24, off)
}

// stores compiles stores: on the stack, and in elements, to which they add as a rule.
func (f *fuser) stores(in bpf.Insn) {
	to, off := f.now.regs[in.Dst()], int64(in.Off)
	v := value{kind: isNumber, n: int64(in.Imm)}
	if in.Class() == bpf.STX {
		v = f.now.regs[in.Src()]
	}
	switch {
	case to.kind == isFrame && in.Mode() == bpf.Mem:
		if in.Size() < 8 && v.kind == isNumber {
			v.n &= 1<<(8*in.Size()) - 1
		}
		f.now.set(to.n+off, in.Size(), v)
	case to.kind != isElement || in.Size() != 8:
		f.fail("it stores where code that is fused does not")
	case in.Mode() == bpf.Atomic && (in.Imm != int32(bpf.Add) || !v.whole() && v.kind != isLoaded):
		f.fail("it changes an element atomically otherwise than by adding to it, or by what is not known")
	case in.Mode() == bpf.Atomic:
		at := to.element(to.n + off)
		at.lock = true
		f.adds(at, v)
	case v.kind == isLoaded && v.from == to.n+off && v.scale == to.scale && v.direct == to.direct && (v.scale == 0 || v.reg == to.reg):
		f.addsLoaded(to.element(v.from), v)
	case v.whole() || v.kind == isLoaded:
		f.replaces(to.element(to.n+off), v)
	default:
		f.fail("it stores what is not a number, or is not known")
	}
}

// addsLoaded stores what was loaded from there, and what has been added since.
func (f *fuser) addsLoaded(at operand, v value) {
	switch {
	case !v.adds:
		f.adds(at, value{kind: isNumber, n: v.n})
	case v.n == 0:
		f.adds(at, value{kind: isComputed, reg: v.more})
	default:
		f.replaces(at, v)
	}
}

// replaces stores a value in memory, in one instruction.
func (f *fuser) replaces(at operand, v value) {
	f.countsHit(f.now)
	if v.kind == isNumber && fits32(v.n) {
		f.at(true, opImm, 0, at) // MOVQ
		f.imm32(int32(v.n))
	} else {
		f.at(true, opStore, f.register(v), at)
	}
	f.changed(at)
}

// adds adds a value to memory, in one instruction. What was loaded from there, or may have been, is not there any more.
func (f *fuser) adds(at operand, v value) {
	f.countsHit(f.now)
	switch {
	case v.kind == isNumber && v.n == 1:
		f.at(true, 0xFF, 0, at) // INCQ
	case v.kind == isNumber && v.n == int64(int8(v.n)):
		f.at(true, opGroup1, opAdd, at)
		f.put(byte(v.n))
	case v.kind == isNumber && fits32(v.n):
		f.at(true, 0x81, opAdd, at)
		f.imm32(int32(v.n))
	default:
		f.at(true, opAdd<<3|1, f.register(v), at)
	}
	f.changed(at)
}

// changed forgets what was loaded from an element that may have changed.
func (f *fuser) changed(at operand) {
	forget := func(v *value) {
		apart := v.scale == 0 && !at.hasBase && !at.indexed && (v.from-at.n >= 8 || at.n-v.from >= 8)
		if v.kind == isLoaded && !apart {
			*v = value{}
		}
	}
	for i := range f.now.regs {
		forget(&f.now.regs[i])
	}
	for i := range f.now.frame {
		forget(&f.now.frame[i].value)
	}
}
