package lang

import "sonde/arch/amd64/goabi"

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
		if a := e.Args[0]; a.Type.Kind == StackID {
			g.frames(a)
		} else if a.Kind == MapValue && a.m != nil {
			g.countKeys(a.m)
		} else {
			g.wordOf(a, 1)
		}
	case "nsecs":
		g.emit("call 5")
		if e.Value != 0 {
			g.load("r1", int64(e.Value))
			g.emit("r0 += r1")
		}
	case "has_key", "delete":
		g.keyTruth(e)
	case "strncmp":
		g.scoped(func() { g.strncmp(e) })
	case "strlen":
		g.scoped(func() { g.strlen(e) })
	case "strcontains":
		g.scoped(func() { g.strcontains(e) })
	case "ppid":
		g.number(e.Args[0])
		g.parent()
	case "container_of":
		g.number(e.Args[0])
		g.emit("r0 -= %d", e.Value)
	case "uaddr":
		g.emit("r0 = *(u64 *)(r6 + %d)", goabi.PtRegsIP)
		g.load("r1", int64(e.Value))
		g.emit("r0 += r1")
	case "speculate":
		g.begins()
	case "strerror", "kptr", "uptr":
		g.number(e.Args[0])
	case "bswap":
		g.number(e.Args[0])
		if n := e.Type.Bytes; n > 1 {
			g.emit("r0 = bswap%d r0", 8*n)
		}
	case "macaddr":
		g.macaddr(e)
	case "kaddr":
		g.load("r0", int64(e.Value))
	case "reg":
		g.emit("r0 = *(u64 *)(r6 + %d)", e.Value)
	default:
		g.fail(e.Span, "%s() returns no number", e.Name)
	}
}

// keyTruth leaves 1 in R0 if a key is there, or was there and is deleted.
func (g *generator) keyTruth(e *Expr) {
	yes, end := g.newLabel(), g.newLabel()
	if e.Name == "delete" {
		g.scoped(func() { g.remove(e.Args[0]) })
		g.emit("if r0 == 0 goto %s", yes)
	} else {
		key := &Expr{Span: e.Span, Kind: MapValue, Name: e.m.Name, Args: []*Expr{e.Args[1]}, m: e.m}
		if e.Args[1].Kind == Tuple {
			key.Args = e.Args[1].Args
		}
		g.scoped(func() { g.lookup(key) })
		g.emit("if r0 != 0 goto %s", yes)
	}
	g.emit("r0 = 0")
	g.emit("goto %s", end)
	g.label(yes)
	g.emit("r0 = 1")
	g.label(end)
}
