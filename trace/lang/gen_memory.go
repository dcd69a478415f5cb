package lang

import (
	"fmt"
	"slices"
	"strconv"

	"sonde/probe/task"
)

// part is where a part of a tuple is.
func (g *generator) part(e *Expr) place {
	p := g.memory(e.Args[0])
	i, err := strconv.Atoi(e.Name)
	if err != nil {
		i = slices.Index(e.Args[0].Type.Names, e.Name)
	}
	for _, t := range e.Args[0].Type.Elems[:i] {
		p = p.plus(t.Size())
	}
	return p
}

// pointee leaves the address of x->field, x[i] and *x in R0.
func (g *generator) pointee(e *Expr) {
	of := e.Args[0]
	base := func() {
		switch of.Type.Kind {
		case StructOf, ArrayOf:
			g.pointee(of)
		case SliceOf:
			g.wordOf(of, 0)
		default:
			g.number(of)
		}
	}
	switch e.Kind {
	case Unary:
		g.number(of)
	case Field:
		base()
		if f, _ := g.structNow(of.Type.To).find(e.Name); f != nil && f.Offset != 0 {
			g.emit("r0 += %d", f.Offset)
		}
	case Index:
		g.scoped(func() {
			base()
			first := g.spill()
			g.number(e.Args[1])
			outside, end := g.newLabel(), g.newLabel()
			if _, known := g.constant(e.Args[1]); of.Type.Kind == ArrayOf && of.Type.Bytes > 0 && !known {
				g.emit("if r0 >= %d goto %s", of.Type.Bytes/max(1, of.Type.Elem.Bytes), outside)
			}
			g.emit("r0 *= %d", max(1, of.Type.Elem.Bytes))
			g.emit("r1 = *(u64 *)(%s)", first)
			g.emit("r0 += r1")
			g.emit("goto %s", end)
			g.label(outside)
			g.emit("r0 = 0") // where nothing can be read
			g.label(end)
		})
	default:
		g.fail(e.Span, "the address of this is not known")
	}
}

// fetch reads what R0 points to.
func (g *generator) fetch(t Type) { g.read(t, t.User || g.target.User) }

// read reads what R0 points to, in a program or in the kernel.
func (g *generator) read(t Type, user bool) {
	switch t.Kind {
	case Int, Bool, Pointer:
	default:
		g.fail(g.at, "a value of type %s cannot be read as a number", t)
	}
	g.scoped(func() {
		p := g.push(8)
		g.emit("r3 = r0")
		g.zero(p, 8)
		g.address("r1", p)
		g.emit("r2 = %d", t.Bytes)
		g.emit("call %d", pick(user, 112, 113))
		sign := "u"
		if t.Signed {
			sign = "s"
		}
		if t.Bytes == 8 {
			sign = "u"
		}
		g.emit("r0 = *(%s%d *)(%s)", sign, 8*t.Bytes, p)
	})
}

// memory is where a value lies that is longer than a number.
func (g *generator) memory(e *Expr) place {
	switch {
	case e.Kind == Variable:
		return g.home(g.vars[e.Name])
	case e.Kind == Field && e.Args[0].Type.Kind == TupleOf:
		return g.part(e)
	}
	p := g.room(e.Type.Size())
	g.write(e, p, e.Type)
	return p
}

// write stores the value of an expression as one of type t, which it fits.
func (g *generator) write(e *Expr, to place, t Type) {
	switch {
	case e.Type.isNumber():
		g.scoped(func() { g.number(e) })
		g.emit("*(u64 *)(%s) = r0", to)
	case e.Kind == BlockOf:
		g.run(e.Body)
		g.write(e.Args[0], to, t)
	case t.Kind == TupleOf:
		g.writeTuple(e, to, t)
	case e.Kind == Choice:
		g.choose(e, func(part *Expr) { g.write(part, to, t) })
	case e.Type.Kind == ProbeID:
		g.writeProbe(e, to)
	case e.Type.Kind == String:
		g.writeString(e, to, t)
	case e.Type.Kind == Bytes:
		g.writeBytes(e, to, t)
	case e.Type.Kind == Inet && e.Kind == Call:
		g.writeInet(e, to)
	case e.Type.Kind == Inet:
		g.writeCopy(e, to, t.Size())
	case e.Type.Kind == ArrayOf || e.Type.Kind == StructOf:
		g.writeBlob(e, to, t)
	default:
		g.fail(e.Span, "a value of type %s cannot be used here", e.Type)
	}
}

// writeProbe stores where the hit is. What is spelled alike is the same, whatever point it is of.
func (g *generator) writeProbe(e *Expr, to place) {
	if e.Kind != Builtin {
		g.writeCopy(e, to, 16)
		return
	}
	provider, id := g.point.Provider, "r0"
	switch {
	case g.target.Names != nil:
		for _, name := range g.target.Names[len(g.target.Cookies):] {
			g.target.Cookies = append(g.target.Cookies, g.placeID(provider+":"+name))
		}
		g.emit("r1 = r6")
		g.emit("call 174")
		g.emit("*(u64 *)(%s) = 0", to.plus(8))
	case g.target.Pattern:
		g.hitAddress()
		g.emit("*(u64 *)(%s) = r0", to.plus(8))
		id = fmt.Sprint(g.placeID(provider))
	default:
		g.emit("*(u64 *)(%s) = 0", to.plus(8))
		id = fmt.Sprint(g.placeID(g.point.Text))
	}
	g.emit("*(u64 *)(%s) = %s", to, id)
}

// placeID returns the number of a text in Places.
func (g *generator) placeID(text string) uint64 {
	i := slices.Index(g.unit.Places, text)
	if i < 0 {
		i = len(g.unit.Places)
		g.unit.Places = append(g.unit.Places, text)
	}
	return uint64(i)
}

func (g *generator) writeTuple(e *Expr, to place, t Type) {
	switch e.Kind {
	case Tuple:
		for i, a := range e.Args {
			g.write(a, to, t.Elems[i])
			to = to.plus(t.Elems[i].Size())
		}
	case Choice:
		g.choose(e, func(part *Expr) { g.write(part, to, t) })
	default:
		if e.Type.Size() == t.Size() {
			g.writeCopy(e, to, t.Size())
			return
		}
		g.scoped(func() { g.spread(g.memory(e), e.Type, to, t) })
	}
}

// spread copies a tuple to where its strings have more room.
func (g *generator) spread(from place, have Type, to place, t Type) {
	for i, e := range have.Elems {
		room := t.Elems[i].Size()
		if e.Kind == TupleOf {
			g.spread(from, e, to, t.Elems[i])
		} else {
			g.copy(to, from, e.Size())
			g.zero(to.plus(e.Size()), room-e.Size())
		}
		from, to = from.plus(e.Size()), to.plus(room)
	}
}

// writeCopy copies what is in a map or a variable.
func (g *generator) writeCopy(e *Expr, to place, bytes int) {
	if e.Kind != MapValue {
		g.scoped(func() { g.copy(to, g.memory(e), bytes) })
		return
	}
	no, end := g.newLabel(), g.newLabel()
	g.lookup(e)
	g.emit("if r0 == 0 goto %s", no)
	g.copy(to, place{"r0", 0}, bytes)
	g.emit("goto %s", end)
	g.label(no)
	g.zero(to, bytes)
	g.label(end)
}

// writeString stores a string, with zeroes up to the size of t.
func (g *generator) writeString(e *Expr, to place, t Type) {
	room := t.Size()
	if have := e.Type.Size(); have < room && e.Kind != Text && e.Kind != Parameter {
		g.zero(to.plus(have), room-have)
		room = have
	}
	most := room
	if e.Type.Bytes > 0 {
		most = min(room, e.Type.Bytes)
	}
	switch e.Kind {
	case Text, Parameter:
		for i, w := range words(e.Name[:min(len(e.Name), most-1)], room) {
			if int64(int32(w)) == int64(w) {
				g.emit("*(u64 *)(%s) = %d", to.plus(8*i), int64(w))
				continue
			}
			g.load("r1", int64(w))
			g.emit("*(u64 *)(%s) = r1", to.plus(8*i))
		}
	case Builtin:
		g.comm(e.Name, to, min(room, 16))
	case Call:
		g.str(e, to, room, most)
	case Field, Index, Unary:
		if e.Kind == Field && e.Args[0].Type.Kind == TupleOf {
			g.writeCopy(e, to, room)
			return
		}
		if e.Type.Go {
			g.goString(e, to, room, most)
			return
		}
		g.pointee(e)
		g.readString(to, room, fmt.Sprint(most), e.Type.User || g.target.User)
	default:
		g.writeCopy(e, to, room)
	}
}

// comm stores the name of the thread that was hit, of its process's first thread, or of the process that has
// started it.
func (g *generator) comm(of string, to place, bytes int) {
	if of == "comm" {
		g.address("r1", to)
		g.emit("r2 = %d", bytes)
		g.emit("call 16")
		return
	}
	g.emit("call 35")
	g.emit("r0 += %d", pick(of == "pcomm", task.OffsetParent, task.OffsetLeader))
	g.read(Type{Kind: Pointer, Bytes: 8}, false)
	g.emit("r0 += %d", task.OffsetComm)
	g.readString(to, bytes, fmt.Sprint(bytes), false)
}

// str reads the string whose address is an argument: most bytes of it, with its end.
func (g *generator) str(e *Expr, to place, room, most int) {
	a := e.Args[0]
	if a.Type.Kind == String {
		g.write(a, to, stringType(room))
		if n := e.Type.Bytes; n < a.Type.Bytes {
			g.zeroFrom(to, n-1)
		}
		return
	}
	if a.Type.isError() {
		g.errorText(a, to, room)
		return
	}
	user := (g.target.User || a.Type.User || e.Name == "ustr") && e.Name != "kstr"
	if len(e.Args) == 1 {
		g.number(a)
		g.readString(to, room, fmt.Sprint(most), user)
		return
	}
	g.scoped(func() {
		g.number(e.Args[1])
		length := g.bounded(most)
		g.number(a)
		g.readString(to, room, fmt.Sprintf("*(u64 *)(%s)", length), user)
	})
}

// goString reads a string of Go.
func (g *generator) goString(e *Expr, to place, room, most int) {
	g.scoped(func() {
		g.wordOf(e, 1)
		length := g.bounded(most)
		g.wordOf(e, 0)
		g.readString(to, room, fmt.Sprintf("*(u64 *)(%s)", length), e.Type.User || g.target.User)
	})
}

// bounded keeps R0 + 1, the bytes of a string with its zero, but most at most.
func (g *generator) bounded(most int) place {
	short := g.newLabel()
	g.emit("r0 += 1")
	g.emit("if r0 <= %d goto %s", most, short)
	g.emit("r0 = %d", most)
	g.label(short)
	return g.spill()
}

// readString reads up to n bytes at R0, n being an immediate or memory.
func (g *generator) readString(to place, room int, n string, user bool) {
	g.zero(to, room)
	g.emit("r3 = r0")
	g.emit("r2 = %s", n)
	g.address("r1", to)
	g.emit("call %d", pick(user, 114, 115))
}
