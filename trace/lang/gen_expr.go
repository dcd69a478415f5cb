package lang

import "sonde/bpf"

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
	case isArgument(e):
		g.register(g.argument(e))
	case of.Kind == Builtin && of.Name == "watch":
		g.emit("r1 = r6")
		g.emit("call %d", map[string]int{"old": bpf.HelperWatchOld, "new": bpf.HelperWatchNew}[e.Name])
	case of.Type.Kind == TupleOf:
		g.scoped(func() { g.emit("r0 = *(u64 *)(%s)", g.part(e)) })
	default:
		g.pointee(e)
		g.fetch(e.Type)
	}
}

// isArgument tells whether an expression is args.NAME or ret.N.
func isArgument(e *Expr) bool {
	return e.Kind == Field && e.Args[0].Kind == Builtin && (e.Args[0].Name == "args" || e.Args[0].Name == "ret")
}

func (g *generator) argument(e *Expr) ArgField { return g.target.named(e.Args[0].Name)[e.Value] }

// wordOf leaves a word of a slice or a string of Go in R0: 0 its address, 1 its length.
func (g *generator) wordOf(e *Expr, i int) {
	if isArgument(e) {
		f := g.argument(e)
		g.emit("r0 = *(u64 *)(r6 + %d)", append([]int{f.Offset}, f.More...)[i])
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
	g.emit("r0 = *(u64 *)(r6 + %d)", f.Offset)
	g.truncate(f.Type)
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

// callNumber calls a function whose result is a number.
func (g *generator) callNumber(e *Expr) {
	switch e.Name {
	case "ksym", "usym":
		g.number(e.Args[0])
	case "kstack", "ustack":
		g.stackID(e)
	case "strftime":
		g.number(e.Args[1])
	case "len":
		g.wordOf(e.Args[0], 1)
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
