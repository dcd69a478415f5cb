package lang

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// number leaves the value of an expression that is one number in R0.
func (g *generator) number(e *Expr) {
	if n, ok := g.constant(e); ok {
		g.load("r0", n)
		return
	}
	switch e.Kind {
	case Variable:
		g.emit("r0 = *(u64 *)(%s)", g.home(g.vars[e.Name]))
	case MapValue:
		g.readMap(e)
	case Builtin:
		g.builtinNumber(e)
	case Call:
		g.callNumber(e)
	case Unary:
		g.unaryNumber(e)
	case Binary:
		g.binaryNumber(e)
	case Step:
		g.stepNumber(e)
	case Choice:
		g.choose(e, g.number)
	case Cast:
		g.number(e.Args[0])
		g.truncate(e.Type)
	case Field:
		g.fieldNumber(e)
	case Index:
		g.pointee(e)
		g.fetch(e.Type)
	case SizeOf, OffsetOf:
		g.load("r0", int64(e.Value))
	default:
		g.fail(e.Span, "a value of type %s cannot be used here", e.Type)
	}
}

// truncate cuts R0 to a type.
func (g *generator) truncate(t Type) {
	switch {
	case t.Kind == Bool:
		yes := g.newLabel()
		g.emit("if r0 == 0 goto %s", yes)
		g.emit("r0 = 1")
		g.label(yes)
	case t.Kind != Int || t.Bytes == 8:
	case t.Signed:
		g.emit("r0 <<= %d", 64-8*t.Bytes)
		g.emit("r0 s>>= %d", 64-8*t.Bytes)
	default:
		g.emit("r0 <<= %d", 64-8*t.Bytes)
		g.emit("r0 >>= %d", 64-8*t.Bytes)
	}
}

func (g *generator) choose(e *Expr, f func(*Expr)) {
	no, end := g.newLabel(), g.newLabel()
	g.branch(e.Args[0], no, false)
	g.scoped(func() { f(e.Args[1]) })
	g.emit("goto %s", end)
	g.label(no)
	g.scoped(func() { f(e.Args[2]) })
	g.label(end)
}

func (g *generator) unaryNumber(e *Expr) {
	switch e.Op {
	case "!":
		g.truth(e)
	case "-":
		g.number(e.Args[0])
		g.emit("r0 = -r0")
	case "~":
		g.number(e.Args[0])
		g.emit("r0 ^= -1")
	case "*":
		g.number(e.Args[0])
		g.fetch(e.Type)
	}
}

// operands leaves the first operand in R0, and returns the text of the second: R1 or an immediate.
func (g *generator) operands(e *Expr) string {
	g.number(e.Args[0])
	if imm, ok := g.immediate(e.Args[1]); ok {
		return imm
	}
	if b := e.Args[1]; b.Kind == Variable {
		g.emit("r1 = *(u64 *)(%s)", g.home(g.vars[b.Name]))
		return "r1"
	}
	first := g.spill()
	g.number(e.Args[1])
	g.emit("r1 = r0")
	g.emit("r0 = *(u64 *)(%s)", first)
	return "r1"
}

func (g *generator) binaryNumber(e *Expr) {
	op := e.Op
	switch op {
	case "&&", "||", "==", "!=", "<", "<=", ">", ">=":
		g.truth(e)
		return
	case "/", "%", ">>":
		if g.signed(e) {
			op = "s" + op
		}
	}
	g.scoped(func() { g.emit("r0 %s= %s", op, g.operands(e)) })
}

// truth leaves 1 or 0 in R0.
func (g *generator) truth(e *Expr) {
	no, end := g.newLabel(), g.newLabel()
	g.branch(e, no, false)
	g.emit("r0 = 1")
	g.emit("goto %s", end)
	g.label(no)
	g.emit("r0 = 0")
	g.label(end)
}

// opposite are the comparisons that hold if others do not.
var opposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// branch goes to a label if the truth of an expression is when.
func (g *generator) branch(e *Expr, label string, when bool) {
	switch {
	case e.Kind == Unary && e.Op == "!":
		g.branch(e.Args[0], label, !when)
	case e.Kind == Binary && (e.Op == "&&" || e.Op == "||"):
		if (e.Op == "&&") != when { // one of them decides
			g.branch(e.Args[0], label, when)
			g.branch(e.Args[1], label, when)
			return
		}
		skip := g.newLabel()
		g.branch(e.Args[0], skip, !when)
		g.branch(e.Args[1], label, when)
		g.label(skip)
	case e.Kind == Binary && opposite[e.Op] != "" && e.Args[0].Type.Kind == String:
		g.scoped(func() { g.compareStrings(e, label, when) })
	case e.Kind == Binary && opposite[e.Op] != "":
		op := e.Op
		if !when {
			op = opposite[op]
		}
		if op != "==" && op != "!=" && g.signed(e) {
			op = "s" + op
		}
		g.scoped(func() { g.emit("if r0 %s %s goto %s", op, g.operands(e), label) })
	default:
		g.scoped(func() { g.number(e) })
		g.emit("if r0 %s 0 goto %s", map[bool]string{true: "!=", false: "=="}[when], label)
	}
}

// compareStrings compares word by word: strings end with zeroes.
func (g *generator) compareStrings(e *Expr, label string, when bool) {
	equal := (e.Op == "==") == when // whether to go there if they are equal
	a, b := e.Args[0], e.Args[1]
	if a.Kind == Text {
		a, b = b, a
	}
	differ := label
	if equal {
		differ = g.newLabel()
	}
	from := g.memory(a)
	if b.Kind == Text {
		for i, w := range words(b.Name, min(a.Type.Size(), up(len(b.Name)+1))) {
			g.emit("r0 = *(u64 *)(%s)", from.plus(8*i))
			g.load("r1", int64(w))
			g.emit("if r0 != r1 goto %s", differ)
		}
	} else {
		with := g.memory(b)
		for i := 0; i < min(a.Type.Size(), b.Type.Size()); i += 8 {
			g.emit("r0 = *(u64 *)(%s)", from.plus(i))
			g.emit("r1 = *(u64 *)(%s)", with.plus(i))
			g.emit("if r0 != r1 goto %s", differ)
		}
	}
	if equal {
		g.emit("goto %s", label)
		g.label(differ)
	}
}

// words is a string as it lies in memory of so many bytes.
func words(s string, bytes int) []uint64 {
	b := make([]byte, bytes)
	copy(b[:max(0, bytes-1)], s)
	all := make([]uint64, bytes/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}

func (g *generator) stepNumber(e *Expr) {
	delta := int64(1)
	if e.Op == "--" {
		delta = -1
	}
	a := e.Args[0]
	if a.Kind == MapValue {
		g.scoped(func() {
			g.load("r0", delta)
			g.addMap(a, g.spill())
		})
	} else {
		g.emit("r0 = *(u64 *)(%s)", g.home(g.vars[a.Name]))
		g.emit("r0 += %d", delta)
		g.emit("*(u64 *)(%s) = r0", g.home(g.vars[a.Name]))
	}
	if e.Postfix {
		g.emit("r0 += %d", -delta)
	}
}

func (g *generator) fieldNumber(e *Expr) {
	of := e.Args[0]
	switch {
	case of.Kind == Builtin && of.Name == "args":
		g.register(g.target.Fields[e.Value])
	case of.Kind == Builtin && of.Name == "watch":
		g.emit("r1 = r6")
		g.emit("call %d", map[string]int{"old": helperWatchOld, "new": helperWatchNew}[e.Name])
	case of.Type.Kind == TupleOf:
		g.scoped(func() { g.emit("r0 = *(u64 *)(%s)", g.part(e)) })
	default:
		g.pointee(e)
		g.fetch(e.Type)
	}
}

// register loads an argument.
func (g *generator) register(f ArgField) {
	g.emit("r0 = *(u64 *)(r6 + %d)", f.Offset)
	g.truncate(f.Type)
}

// part is where a part of a tuple is.
func (g *generator) part(e *Expr) place {
	p := g.memory(e.Args[0])
	i, _ := strconv.Atoi(e.Name)
	for _, t := range e.Args[0].Type.Elems[:i] {
		p = p.plus(t.Size())
	}
	return p
}

// pointee leaves the address of x->field, x[i] and *x in R0.
func (g *generator) pointee(e *Expr) {
	of := e.Args[0]
	base := func() {
		if of.Type.Kind == StructOf || of.Type.Kind == ArrayOf {
			g.pointee(of)
		} else {
			g.number(of)
		}
	}
	switch e.Kind {
	case Unary:
		g.number(of)
	case Field:
		base()
		to := of.Type.To
		if s := g.structOf(to.Name); s != nil {
			to = s
		}
		for _, f := range to.fields() {
			if f.Name == e.Name && f.Offset != 0 {
				g.emit("r0 += %d", f.Offset)
			}
		}
	case Index:
		g.scoped(func() {
			base()
			first := g.spill()
			g.number(e.Args[1])
			g.emit("r0 *= %d", max(1, e.Type.Bytes))
			g.emit("r1 = *(u64 *)(%s)", first)
			g.emit("r0 += r1")
		})
	default:
		g.fail(e.Span, "the address of this is not known")
	}
}

// fetch reads what R0 points to.
func (g *generator) fetch(t Type) {
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
		g.emit("call %d", pick(t.User || g.target.User, 112, 113))
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

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// Where in Linux's struct pt_regs the instruction's address is.
const offsetIP = 128

func (g *generator) builtinNumber(e *Expr) {
	if b, ok := simple[e.Name]; ok {
		g.emit("call %d", b.helper)
		switch {
		case e.Name == "elapsed":
			g.emit("r1 = map[idx:%d][0]+%d", ControlMap, ControlStart)
			g.emit("r1 = *(u64 *)(r1 + 0)")
			g.emit("r0 -= r1")
		case b.high:
			g.emit("r0 >>= 32")
		case b.t.Bytes == 4:
			g.truncate(b.t)
		}
		return
	}
	switch e.Name {
	case "kstack", "ustack":
		g.stackID(e)
	case "func":
		g.hitAddress()
	case "ncpus":
		g.load("r0", int64(g.opt.CPUs))
	case "retval":
		g.register(*g.target.Result)
	case "comm", "probe":
		g.fail(e.Span, "%s is no number", e.Name)
	default:
		g.emit("r0 = *(u64 *)(r6 + %d)", e.Value)
	}
}

// hitAddress leaves the address of what was hit in R0: of the function, at a return.
func (g *generator) hitAddress() {
	if g.target.Result != nil {
		g.emit("r1 = r6")
		g.emit("call 173")
		return
	}
	g.emit("r0 = *(u64 *)(r6 + %d)", offsetIP)
}

func (g *generator) stackID(e *Expr) {
	const user = 1 << 8
	g.emit("r1 = r6")
	g.emit("r2 = map[idx:%d]", g.stackMap(e.Type.Depth))
	g.emit("r3 = %d", pick(e.Type.User, user, 0))
	g.emit("call 27")
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
	case t.Kind == TupleOf:
		g.writeTuple(e, to, t)
	case e.Kind == Choice:
		g.choose(e, func(part *Expr) { g.write(part, to, t) })
	case e.Type.Kind == ProbeID:
		g.writeProbe(e, to)
	case e.Type.Kind == String:
		g.writeString(e, to, t)
	default:
		g.fail(e.Span, "a value of type %s cannot be used here", e.Type)
	}
}

// writeProbe stores which attach point was hit, and where.
func (g *generator) writeProbe(e *Expr, to place) {
	if e.Kind != Builtin {
		g.writeCopy(e, to, 16)
		return
	}
	g.emit("*(u64 *)(%s) = %d", to, len(g.unit.Programs))
	if !g.target.Pattern {
		g.emit("*(u64 *)(%s) = 0", to.plus(8))
		return
	}
	g.hitAddress()
	g.emit("*(u64 *)(%s) = r0", to.plus(8))
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
		if e.Type.Size() != t.Size() {
			g.fail(e.Span, "tuples with strings of different lengths cannot be mixed here")
		}
		g.writeCopy(e, to, t.Size())
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
	switch e.Kind {
	case Text, Parameter:
		for i, w := range words(e.Name, room) {
			if int64(int32(w)) == int64(w) {
				g.emit("*(u64 *)(%s) = %d", to.plus(8*i), int64(w))
				continue
			}
			g.load("r1", int64(w))
			g.emit("*(u64 *)(%s) = r1", to.plus(8*i))
		}
	case Builtin: // comm
		g.address("r1", to)
		g.emit("r2 = %d", min(room, 16))
		g.emit("call 16")
	case Call:
		g.str(e, to, room)
	case Field, Index, Unary:
		if e.Kind == Field && e.Args[0].Type.Kind == TupleOf {
			g.writeCopy(e, to, room)
			return
		}
		g.pointee(e)
		g.readString(to, room, fmt.Sprint(min(room, max(1, e.Type.Bytes))), e.Type.User || g.target.User)
	default:
		g.writeCopy(e, to, room)
	}
}

// str reads the string whose address is an argument.
func (g *generator) str(e *Expr, to place, room int) {
	a := e.Args[0]
	if a.Type.Kind == String {
		g.write(a, to, stringType(room))
		return
	}
	user := (g.target.User || a.Type.User || e.Name == "ustr") && e.Name != "kstr"
	if len(e.Args) == 1 {
		g.number(a)
		g.readString(to, room, fmt.Sprint(room), user)
		return
	}
	g.scoped(func() {
		g.number(e.Args[1])
		short := g.newLabel()
		g.emit("r0 += 1")
		g.emit("if r0 <= %d goto %s", room, short)
		g.emit("r0 = %d", room)
		g.label(short)
		length := g.spill()
		g.number(a)
		g.readString(to, room, fmt.Sprintf("*(u64 *)(%s)", length), user)
	})
}

// readString reads up to n bytes at R0, n being an immediate or memory.
func (g *generator) readString(to place, room int, n string, user bool) {
	g.zero(to, room)
	g.emit("r3 = r0")
	g.emit("r2 = %s", n)
	g.address("r1", to)
	g.emit("call %d", pick(user, 114, 115))
}

// callNumber calls a function whose result is a number.
func (g *generator) callNumber(e *Expr) {
	switch e.Name {
	case "ksym", "usym":
		g.number(e.Args[0])
	case "kstack", "ustack":
		g.stackID(e)
	case "strftime":
		g.number(e.Args[1])
	case "nsecs":
		g.emit("call 5")
	case "has_key":
		key := &Expr{Span: e.Span, Kind: MapValue, Name: e.m.Name, Args: []*Expr{e.Args[1]}, m: e.m}
		if e.Args[1].Kind == Tuple {
			key.Args = e.Args[1].Args
		}
		no := g.newLabel()
		g.scoped(func() { g.lookup(key) })
		g.emit("if r0 == 0 goto %s", no)
		g.emit("r0 = 1")
		g.label(no)
	case "strncmp":
		g.scoped(func() { g.strncmp(e) })
	default:
		g.fail(e.Span, "%s() returns no number", e.Name)
	}
}

// strncmp leaves 0 if strings begin alike, otherwise the difference of the first bytes that differ.
func (g *generator) strncmp(e *Expr) {
	a, b := g.memory(e.Args[0]), g.memory(e.Args[1])
	n, _ := g.constant(e.Args[2])
	end := g.newLabel()
	for i := range min(int(n), e.Args[0].Type.Size(), e.Args[1].Type.Size()) {
		g.emit("r0 = *(u8 *)(%s)", a.plus(i))
		g.emit("r2 = r0")
		g.emit("r1 = *(u8 *)(%s)", b.plus(i))
		g.emit("r0 -= r1")
		g.emit("if r0 != 0 goto %s", end)
		g.emit("if r2 == 0 goto %s", end)
	}
	g.emit("r0 = 0")
	g.label(end)
}
