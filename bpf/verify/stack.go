package verify

import ()

// at returns the word and the byte in it of an offset from R10, -512 to -1.
func at(off int) (word, b int) {
	up := off + stackSize
	return stackSize/wordSize - 1 - up/wordSize, up % wordSize
}

// writable returns a copy of the word that may be changed, and is put into the frame.
func (f *frame) writable(word int) *slot {
	c := &slot{from: &origin{}}
	if old := f.slots[word]; old != nil {
		*c = *old
		c.from = refined(old.from, nil) // the bytes that stay are the same
	}
	f.slots[word] = c
	f.words |= 1 << word
	return c
}

// write sets bytes of stack.
func (f *frame) write(off, size int, c content) {
	for end := off + size; off < end; {
		word, b := at(off)
		n := min(wordSize-b, end-off)
		sl := &slot{from: &origin{}}
		if n == wordSize {
			f.slots[word] = sl
			f.words |= 1 << word
		} else {
			sl = f.writable(word)
		}
		for i := b; i < b+n; i++ {
			sl.split(i)
			sl.kinds[i] = c
		}
		off += n
	}
}

// split has what is left of a value that is spilled at byte b be bytes of which nothing is known.
// What is left of a pointer, be it valid or not, must not be read.
func (sl *slot) split(b int) {
	i, sp := sl.spilledAt(b)
	if sp == nil {
		return
	}
	left := misc
	if sp.kind != number {
		left = nothing
	}
	for j := i; j < i+sp.bytes; j++ {
		sl.kinds[j] = left
	}
	sl.from = refined(sl.from, sp.from)
	sl.spills[i] = nil
}

// spilledAt returns the value that byte b is a part of, and its first byte; nil: it is of none.
func (sl *slot) spilledAt(b int) (first int, _ *spill) {
	for i, sp := range sl.spills {
		if sp != nil && b >= i && b < i+sp.bytes {
			return i, sp
		}
	}
	return 0, nil
}

// store writes a value at a known offset.
func (f *frame) store(off, size int, v reg) {
	word, b := at(off)
	if b+size > wordSize || size < wordSize && v.isPointer() { // a value across two words is bytes only
		fill := misc
		if v.isConst(0) {
			fill = zero
			v.from.mark(decided)
		}
		f.write(off, size, fill)
		return
	}
	f.write(off, size, misc)
	if size < wordSize {
		v = truncated(v, size)
	}
	sl := f.slots[word]
	sl.spills[b] = &spill{reg: v, bytes: size}
	for i := b; i < b+size; i++ {
		sl.kinds[i] = spilled
	}
}

// truncated is the low bytes of a number. It is a copy if nothing is lost.
func truncated(v reg, size int) reg {
	if low := v.n.ZeroExtend(uint(8 * size)); low != v.n {
		v.n, v.id, v.add = low, 0, 0
	}
	return v
}

// load reads size bytes at a known offset. The error says what is wrong with them.
func (f *frame) load(off, size int) (reg, string) {
	word, b := at(off)
	if sl := f.slots[word]; sl != nil && sl.spills[b] != nil && sl.spills[b].bytes == size {
		v := sl.spills[b].reg
		if v.kind == unset {
			return v, "the stack at fp" + itoa(off) + " holds a pointer that is not valid any more"
		}
		v.from.mark(read)
		return v, ""
	}
	if why := f.readable(off, size); why != "" {
		return reg{}, why
	}
	for i := range size {
		if word, b := at(off + i); f.slots[word].kinds[b] != zero {
			return numberOf(loaded(size)), ""
		}
	}
	v := constant(0)
	v.from = derived(f.slots[word].from, nil)
	if last, _ := at(off + size - 1); last != word {
		v.from.from[1] = f.slots[last].from
	}
	return v, ""
}

// readable tells why the bytes at off cannot be read as numbers, or "".
func (f *frame) readable(off, size int) string {
	for i := off; i < off+size; i++ {
		word, b := at(i)
		sl := f.slots[word]
		if sl == nil || sl.kinds[b] == nothing {
			return "the stack at fp" + itoa(i) + " was not written"
		}
		for j, sp := range sl.spills {
			if sp == nil || b < j || b >= j+sp.bytes {
				continue
			}
			if sp.kind == unset {
				return "the stack at fp" + itoa(i) + " holds a pointer that is not valid any more"
			}
			if sp.isPointer() {
				return "the stack at fp" + itoa(i) + " holds a part of " + sp.String() + ", which must not be read as a number"
			}
			sp.from.mark(read)
		}
		sl.from.mark(read)
	}
	return ""
}

// havoc has the bytes of [off, off+size) hold anything. If they may also stay as they are, those
// that were not written stay so, and those of a pointer count as not written.
func (f *frame) havoc(off, size int, surely bool) {
	if surely {
		f.write(off, size, misc)
		return
	}
	for i := off; i < off+size; i++ {
		word, b := at(i)
		if sl := f.slots[word]; sl == nil || sl.kinds[b] == nothing {
			continue
		} else if _, sp := sl.spilledAt(b); sp != nil && sp.kind != number {
			f.write(i, 1, nothing)
			continue
		}
		f.write(i, 1, misc)
	}
}
