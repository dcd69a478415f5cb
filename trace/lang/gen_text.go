package lang

import "sonde/bpf"

// strncmp leaves 0 if strings begin alike, otherwise 1.
func (g *generator) strncmp(e *Expr) {
	a, b := g.memory(e.Args[0]), g.memory(e.Args[1])
	n, _ := g.constant(e.Args[2])
	differ, end := g.newLabel(), g.newLabel()
	for i := range min(int(n), e.Args[0].Type.Size(), e.Args[1].Type.Size()) {
		g.emit("r0 = *(u8 *)(%s)", a.plus(i))
		g.emit("r1 = *(u8 *)(%s)", b.plus(i))
		g.emit("if r0 != r1 goto %s", differ)
		g.emit("if r0 == 0 goto %s", end)
	}
	g.emit("r0 = 0")
	g.emit("goto %s", end)
	g.label(differ)
	g.emit("r0 = 1")
	g.label(end)
}

// strlen leaves the bytes of a string before its zero.
func (g *generator) strlen(e *Expr) {
	a, end := g.memory(e.Args[0]), g.newLabel()
	for i := range e.Args[0].Type.Size() {
		g.emit("r0 = %d", i)
		g.emit("r1 = *(u8 *)(%s)", a.plus(i))
		g.emit("if r1 == 0 goto %s", end)
	}
	g.label(end)
}

// strcontains leaves 1 if a string has the other one in it.
func (g *generator) strcontains(e *Expr) {
	a, b := g.memory(e.Args[0]), g.memory(e.Args[1])
	g.address("r1", a)
	g.emit("r2 = %d", e.Args[0].Type.Size())
	g.address("r3", b)
	g.emit("r4 = %d", e.Args[1].Type.Size())
	g.emit("call %d", bpf.HelperContains)
}

// macaddr leaves 6 bytes in R0.
func (g *generator) macaddr(e *Expr) {
	a := e.Args[0]
	if !a.Type.isInt() {
		g.scoped(func() {
			p := g.room(8)
			g.zero(p, 8)
			g.raw(a, p, a.Type)
			g.emit("r0 = *(u64 *)(%s)", p)
		})
	} else {
		g.number(a)
		g.fetch(Type{Kind: Int, Bytes: 8, User: a.Type.User})
	}
	g.emit("r0 <<= 16")
	g.emit("r0 >>= 16")
}

// raw stores a value as the bytes that it has: of char[n], the last one is no end.
func (g *generator) raw(e *Expr, to place, t Type) {
	read := e.Kind == Field && e.Args[0].Type.Kind != TupleOf || e.Kind == Index || e.Kind == Unary
	if t.Kind == String && !t.Go && read {
		elem := integer(1, false)
		g.writeBlob(e, to, Type{Kind: ArrayOf, Elem: &elem, Bytes: t.Bytes, User: t.User})
		return
	}
	g.write(e, to, t)
}

// writeBytes stores what buf() reads, with zeroes up to the size of t.
func (g *generator) writeBytes(e *Expr, to place, t Type) {
	if e.Kind != Call {
		have := e.Type.Size()
		g.writeCopy(e, to, have)
		g.zero(to.plus(have), t.Size()-have)
		return
	}
	a, most := e.Args[0], e.Type.Bytes
	g.zero(to, t.Size())
	data := to.plus(8)
	if !a.Type.isInt() { // it is in memory of ours, or is read as a whole
		part := a.Type
		g.scoped(func() {
			from := g.room(max(part.Size(), up(most)))
			g.zero(from, max(part.Size(), up(most)))
			g.raw(a, from, part)
			g.copy(data, from, up(most))
		})
		g.length(e, to, most)
		g.zeroFrom(data, most)
		return
	}
	g.length(e, to, most)
	g.scoped(func() {
		g.number(a)
		g.emit("r3 = r0")
		g.emit("r2 = *(u64 *)(%s)", to)
		short := g.newLabel()
		g.emit("if r2 <= %d goto %s", most, short)
		g.emit("r2 = %d", most)
		g.label(short)
		g.address("r1", data)
		g.emit("call %d", pick(a.Type.User || g.target.User, 112, 113))
	})
}

// zeroFrom clears what copies of whole words have left after the last byte.
func (g *generator) zeroFrom(p place, bytes int) {
	for i := bytes; i%8 != 0; i++ {
		g.emit("*(u8 *)(%s) = 0", p.plus(i))
	}
}

// length stores how many bytes there are.
func (g *generator) length(e *Expr, to place, most int) {
	if len(e.Args) < 2 {
		g.emit("*(u64 *)(%s) = %d", to, most)
		return
	}
	g.scoped(func() {
		short := g.newLabel()
		g.number(e.Args[1])
		g.emit("if r0 <= %d goto %s", most, short)
		g.emit("r0 = %d", most)
		g.label(short)
		g.emit("*(u64 *)(%s) = r0", to)
	})
}

// writeInet stores the family and the address that ntop() is given.
func (g *generator) writeInet(e *Expr, to place) {
	a := e.Args[len(e.Args)-1]
	g.zero(to, 24)
	if a.Type.isInt() {
		g.number(a)
		g.truncate(integer(4, false))
		g.emit("*(u64 *)(%s) = r0", to.plus(8))
	} else {
		g.scoped(func() { g.write(a, to.plus(8), a.Type) })
	}
	if len(e.Args) > 1 {
		g.number(e.Args[0])
		g.emit("*(u64 *)(%s) = r0", to)
		return
	}
	g.emit("*(u64 *)(%s) = %d", to, pick(a.Type.Bytes == 16 && !a.Type.isInt(), inet6, inet4))
}

// writeBlob stores an array or a structure.
func (g *generator) writeBlob(e *Expr, to place, t Type) {
	size := up(t.Bytes)
	switch {
	case e.Kind == Cast && e.Args[0].Type.isInt():
		g.zero(to, size)
		g.number(e.Args[0])
		g.emit("*(u64 *)(%s) = r0", to)
	case e.Kind == Cast:
		g.writeString(e.Args[0], to, stringType(size))
	case e.Kind == Call: // pton()
		for i, w := range words8([]byte(e.Op)) {
			g.load("r1", int64(w))
			g.emit("*(u64 *)(%s) = r1", to.plus(8*i))
		}
	case e.Kind == Variable || e.Kind == MapValue || e.Kind == Field && e.Args[0].Type.Kind == TupleOf:
		g.writeCopy(e, to, size)
	default:
		g.scoped(func() {
			g.pointee(e)
			g.emit("r3 = r0")
			g.zero(to, size)
			g.address("r1", to)
			g.emit("r2 = %d", t.Bytes)
			g.emit("call %d", pick(t.User || g.target.User, 112, 113))
		})
	}
}

// words8 are bytes as whole words, with zeroes after them.
func words8(b []byte) (all []uint64) {
	for ; len(b) > 0; b = b[min(8, len(b)):] {
		var w uint64
		for i := range min(8, len(b)) {
			w |= uint64(b[i]) << (8 * i)
		}
		all = append(all, w)
	}
	return all
}

// inMemory is where a part of a structure or an array is that the program has in its memory.
func (g *generator) inMemory(e *Expr) (place, bool) {
	of := e
	if e.Kind == Field || e.Kind == Index {
		of = e.Args[0]
	}
	switch {
	case e.Kind == Field && of.Type.Kind == StructOf:
		p, ok := g.inMemory(of)
		if f, _ := g.structNow(of.Type.To).find(e.Name); ok && f != nil {
			return p.plus(f.Offset), true
		}
	case e.Kind == Index && of.Type.Kind == ArrayOf:
		p, ok := g.inMemory(of)
		if i, known := g.constant(e.Args[1]); ok && known {
			return p.plus(int(i) * of.Type.Elem.Bytes), true
		}
	case e.Type.Kind != StructOf && e.Type.Kind != ArrayOf:
	case e.Kind == Variable, e.Kind == Cast, e.Kind == MapValue, e.Kind == Call:
		return g.memory(e), true
	}
	return place{}, false
}

// errorText stores the text of an error of Go.
func (g *generator) errorText(e *Expr, to place, room int) {
	g.scoped(func() {
		g.wordOf(e, 0)
		methods := g.spill()
		g.wordOf(e, 1)
		g.emit("r2 = r0")
		g.emit("r1 = *(u64 *)(%s)", methods)
		g.address("r3", to)
		g.emit("r4 = %d", room)
		g.emit("call %d", bpf.HelperErrorText)
	})
}
