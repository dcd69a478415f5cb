package lang

import (
	"sonde/bpf"

	"sonde/arch/amd64/goabi"
)

func (g *generator) fieldNumber(e *Expr) {
	of := e.Args[0]
	switch {
	case isArgument(e):
		g.byCopy(g.argument(e), g.register)
	case of.Kind == Builtin && of.Name == "watch":
		g.emit("r1 = r6")
		g.emit("call %d", map[string]int{"old": bpf.HelperWatchOld, "new": bpf.HelperWatchNew}[e.Name])
	case of.Type.Kind == TupleOf:
		g.scoped(func() { g.emit("r0 = *(u64 *)(%s)", g.part(e)) })
	default:
		g.loadOrFetch(e)
		g.bitField(e)
	}
}

// bitField cuts what a field has of the number that was read.
func (g *generator) bitField(e *Expr) {
	if f, _ := g.structNow(e.Args[0].Type.To).find(e.Name); f != nil && f.Bits > 0 {
		g.emit("r0 <<= %d", 64-f.Shift-f.Bits)
		g.emit("r0 %s>>= %d", pick(f.Type.Signed && f.Type.Enum == nil, "s", ""), 64-f.Bits)
	}
}

// structNow is a structure that may have been declared after the pointer to it.
func (g *generator) structNow(to *Struct) *Struct {
	if s := g.structOf(to.Name); s != nil && to.Name != "" {
		return s
	}
	return to
}

// loadOrFetch reads a number of a structure or an array, in memory of ours or at an address.
func (g *generator) loadOrFetch(e *Expr) {
	g.scoped(func() {
		if at, ok := g.inMemory(e); ok {
			g.emit("r0 = *(%s%d *)(%s)", pick(e.Type.Signed && e.Type.Bytes < 8, "s", "u"), 8*e.Type.Bytes, at)
			return
		}
		if of := e.Args[0]; e.Kind == Index && of.Type.Kind == ArrayOf {
			if at, ok := g.inMemory(of); ok {
				g.element(at, of.Type, e)
				return
			}
		}
		g.pointee(e)
		g.fetch(e.Type)
	})
}

// element reads a number of an array in memory of ours, by an index that is not known before; outside it is 0.
func (g *generator) element(at place, array Type, e *Expr) {
	end := g.newLabel()
	g.number(e.Args[1])
	g.emit("r1 = r0")
	g.emit("r0 = 0")
	g.emit("if r1 >= %d goto %s", array.Bytes/array.Elem.Bytes, end)
	g.emit("r1 *= %d", array.Elem.Bytes)
	g.address("r2", at)
	g.emit("r2 += r1")
	g.emit("r0 = *(%s%d *)(r2 + 0)", pick(e.Type.Signed && e.Type.Bytes < 8, "s", "u"), 8*e.Type.Bytes)
	g.label(end)
}

// indexNumber reads x[i]: of a string a byte, which is 0 after its end.
func (g *generator) indexNumber(e *Expr) {
	of := e.Args[0]
	if of.Type.Kind != String || of.Type.Go {
		g.loadOrFetch(e)
		return
	}
	g.scoped(func() {
		end := g.newLabel()
		at := g.memory(of)
		g.number(e.Args[1])
		g.emit("r1 = r0")
		g.emit("r0 = 0")
		g.emit("if r1 >= %d goto %s", of.Type.Size(), end)
		g.address("r2", at)
		g.emit("r2 += r1")
		g.emit("r0 = *(s8 *)(r2 + 0)")
		g.label(end)
	})
}

// stride is how far a pointer moves by 1.
func (t Type) stride() int64 {
	switch {
	case t.To != nil:
		return int64(max(1, t.To.Bytes))
	case t.Elem != nil:
		return int64(max(1, t.Elem.Bytes))
	}
	return 1
}

// movePointer adds to a pointer, in units of what it points to.
func (g *generator) movePointer(e *Expr) {
	a, b := e.Args[0], e.Args[1]
	g.scoped(func() {
		scale := func(x, other *Expr) {
			g.number(x)
			if x.Type.Kind != Pointer && other.Type.stride() > 1 {
				g.emit("r0 *= %d", other.Type.stride())
			}
		}
		scale(b, a)
		second := g.spill()
		scale(a, b)
		g.emit("r1 = *(u64 *)(%s)", second)
		g.emit("r0 %s= r1", e.Op)
	})
}

// isArgument tells whether an expression is args.NAME or ret.N.
func isArgument(e *Expr) bool {
	return e.Kind == Field && e.Args[0].Kind == Builtin && (e.Args[0].Name == "args" || e.Args[0].Name == "ret")
}

func (g *generator) argument(e *Expr) ArgField { return g.target.named(e.Args[0].Name)[e.Value] }

// wordOf leaves a word of a slice or a string of Go in R0: 0 its address, 1 its length.
func (g *generator) wordOf(e *Expr, i int) {
	if isArgument(e) {
		g.byCopy(g.argument(e), func(f ArgField) {
			g.emit("r0 = *(u64 *)(r6 + %d)", append([]int{f.Offset}, f.More...)[i])
		})
		return
	}
	g.pointee(e)
	if i > 0 {
		g.emit("r0 += %d", 8*i)
	}
	word := uint64Type
	word.User = e.Type.User
	g.fetch(word)
}

// register loads an argument.
func (g *generator) register(f ArgField) {
	if f.Place {
		g.emit("r1 = r6")
		g.emit("call 173")
		return
	}
	if f.Stack {
		g.emit("r0 = *(u64 *)(r6 + %d)", goabi.PtRegsSP)
		g.emit("r0 += %d", f.Offset)
		g.read(f.Type, g.target.User)
		return
	}
	g.emit("r0 = *(u64 *)(r6 + %d)", f.Offset)
	g.truncate(f.Type)
}
