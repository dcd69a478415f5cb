package lang

import "slices"

// perform generates a call that stands as a statement.
func (g *generator) perform(e *Expr) {
	switch e.Name {
	case "printf":
		g.record(&Action{Kind: PrintF, Format: e.Args[0].Name}, e.Args[1:])
	case "errorf", "warnf":
		g.record(&Action{Kind: ErrorF, Format: e.Args[0].Name}, e.Args[1:])
	case "time":
		a := &Action{Kind: ShowTime, Format: "%H:%M:%S\n"}
		if len(e.Args) > 0 {
			a.Format = e.Args[0].Name
		}
		g.record(a, nil)
	case "clear":
		g.record(&Action{Kind: ClearMap, Map: e.m}, nil)
	case "zero":
		g.record(&Action{Kind: ZeroMap, Map: e.m}, nil)
	case "print":
		g.print(e)
	case "delete":
		g.remove(e.Args[0])
	case "exit":
		g.emit("r1 = map[idx:%d][0]+%d", ControlMap, ControlActive)
		g.emit("*(u64 *)(r1 + 0) = 0")
		g.record(&Action{Kind: Exit}, e.Args)
		g.emit("goto out")
	default:
		if e.Type.isNumber() {
			g.number(e)
		} else {
			g.memory(e)
		}
	}
}

func (g *generator) print(e *Expr) {
	if v := e.Args[0]; e.m == nil && v.Kind == MapValue {
		g.record(&Action{Kind: PrintValue, Map: v.m}, append(slices.Clone(v.Args), v))
		return
	} else if e.m == nil {
		g.record(&Action{Kind: PrintValue}, e.Args)
		return
	}
	a := &Action{Kind: PrintMap, Map: e.m}
	for i, to := range []*int{&a.Top, &a.Div} {
		if len(e.Args) > i+1 {
			n, _ := g.constant(e.Args[i+1])
			*to = int(n)
		}
	}
	g.record(a, nil)
}

// remove deletes a key. What a map keeps for each CPU can only be deleted by the reader.
func (g *generator) remove(e *Expr) {
	m := e.m
	if !m.Value.Aggregates() {
		g.address("r2", g.key(e))
		g.emit("r1 = map[idx:%d]", m.Index)
		g.emit("call 3")
		return
	}
	g.record(&Action{Kind: DeleteKey, Map: m}, e.Args)
}

// record sends a record: the number of the action, then the values.
func (g *generator) record(a *Action, args []*Expr) {
	a.Span, a.Bytes = g.at, 8
	for i, e := range args {
		t := e.Type
		if a.Map != nil && i < len(a.Map.Key) { // the key of a map, as long as it is there
			t = a.Map.Key[i]
		}
		a.Args = append(a.Args, t)
		a.Bytes += t.Size()
	}
	to := g.room(a.Bytes)
	g.emit("*(u64 *)(%s) = %d", to, len(g.unit.Actions))
	g.unit.Actions = append(g.unit.Actions, a)
	at := to.plus(8)
	for i, e := range args {
		g.write(e, at, a.Args[i])
		at = at.plus(a.Args[i].Size())
	}
	g.emit("r1 = map[idx:%d]", RingMap)
	g.address("r2", to)
	g.emit("r3 = %d", a.Bytes)
	g.emit("r4 = 0")
	g.emit("call 130")
}
