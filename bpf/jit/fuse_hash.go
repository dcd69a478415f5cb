package jit

// find returns the element of a table that has the key at key on the program's stack. If there is none where the code looks,
// or a place is changing, the way ends: the program is called instead, and adds the key.
func (f *fuser) find(t *Table, key value) value {
	h := t.Hash
	if f.now.counted {
		f.fail("it looks for a key after it has changed something")
	}
	f.holds(true)
	words := make([]value, h.Words)
	for i := range words {
		v, ok := f.now.at(key.n+8*int64(i), 8)
		if !ok || !v.whole() {
			f.fail("the key is not known")
		}
		if v.kind != isNumber || !fits32(v.n) {
			v = value{kind: isComputed, reg: f.register(v)}
		}
		words[i] = v
	}
	at, seen := f.scratch(), f.scratch()
	f.home(t, words, at, seen)
	var found []int
	for i := range h.Places {
		if i > 0 {
			f.group1(true, opAdd, at, int32(t.Stride))
		}
		f.mem(true, opLoad, seen, memory{at, 0})
		f.opcode(false, 0xF6, 0, seen, seen) // TESTB
		f.put(0xC0|byte(seen&7), h.Full)
		f.bails(equal)
		var others []int
		for w := range words {
			f.comparesWord(words[w], memory{at, int32(8 + 8*w)})
			switch {
			case w < len(words)-1 && i < h.Places-1:
				others = append(others, f.ahead(notEqual))
			case i < h.Places-1:
				found = append(found, f.ahead(equal))
			default:
				f.bails(notEqual)
			}
		}
		f.here(others)
	}
	f.here(found)
	f.mem(true, opCmp<<3|1, seen, memory{at, 0}) // it is the same entry still
	f.bails(notEqual)
	return value{kind: isElement, n: int64(h.Value), reg: at, scale: 1, direct: true}
}

// home puts the address of a key's home into at. seen is free.
func (f *fuser) home(t *Table, words []value, at, seen reg) {
	h := t.Hash
	if sum, ok := h.sum(words); ok {
		n := int64(sum>>h.Shift) * int64(t.Stride)
		if !fits32(n) {
			f.fail("the element is too far away")
		}
		f.at(true, opLoad, at, operand{n: int64(t.Near)})
		if n != 0 {
			f.group1(true, opAdd, at, int32(n))
		}
		return
	}
	for i, w := range words {
		switch {
		case i == 0 && w.kind == isNumber:
			f.code.set(at, uint64(w.n)*h.Factor)
			continue
		case i == 0:
			f.code.set(at, h.Factor)
			f.regs(true, 0x0FAF, at, w.reg) // IMULQ
			continue
		}
		f.move(true, seen, at)
		f.shiftBy(true, opShr, seen, 32)
		f.regs(true, opXor<<3|1, seen, at)
		if w.kind == isNumber {
			f.group1(true, opXor, at, int32(w.n))
		} else {
			f.regs(true, opXor<<3|1, w.reg, at)
		}
		f.code.set(seen, h.Factor)
		f.regs(true, 0x0FAF, at, seen)
	}
	f.shiftBy(true, opShr, at, int32(h.Shift))
	f.regs(true, 0x69, at, at) // IMULQ
	f.imm32(int32(t.Stride))
	f.at(true, opAdd<<3|3, at, operand{n: int64(t.Near)})
}

// sum is what a key's home is computed from, if all its words are numbers.
func (h *Hash) sum(words []value) (sum uint64, ok bool) {
	for i, w := range words {
		if w.kind != isNumber {
			return 0, false
		}
		if i > 0 {
			sum ^= sum >> 32
		}
		sum = (sum ^ uint64(w.n)) * h.Factor
	}
	return sum, true
}

// comparesWord compares memory with a word of a key.
func (f *fuser) comparesWord(w value, m memory) {
	switch {
	case w.kind != isNumber:
		f.mem(true, opCmp<<3|1, w.reg, m)
	case w.n == int64(int8(w.n)):
		f.mem(true, opGroup1, opCmp, m)
		f.put(byte(w.n))
	default:
		f.mem(true, 0x81, opCmp, m)
		f.imm32(int32(w.n))
	}
}

// ahead puts a jump that leads to where here is called with it.
func (f *fuser) ahead(condition int) (at int) {
	f.put(0x0F, 0x80|byte(condition))
	f.imm32(0)
	return len(f.b) - 4
}

func (f *fuser) here(jumps []int) {
	for _, at := range jumps {
		f.jumps = append(f.jumps, jump{at, len(f.b)})
	}
}

// bails puts a jump to a call of the program.
func (f *fuser) bails(condition int) {
	f.jumps = append(f.jumps, jump{f.ahead(condition), outside})
}
