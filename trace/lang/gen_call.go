package lang

import (
	"fmt"
	"strings"
)

// perform generates a call that stands as a statement.
func (g *generator) perform(e *Expr) {
	switch e.Name {
	case "printf":
		g.record(&Action{Kind: PrintF, Format: e.Args[0].Name}, e.Args[1:])
	case "errorf":
		g.record(&Action{Kind: ErrorF, Format: e.Args[0].Name, Span: e.Span, Via: e.Via}, e.Args[1:])
	case "warnf":
		g.record(&Action{Kind: WarnF, Format: e.Args[0].Name, Span: e.Span, Via: e.Via}, e.Args[1:])
	case "system":
		g.record(&Action{Kind: System, Format: e.Args[0].Name}, e.Args[1:])
	case "cat":
		g.record(&Action{Kind: Cat, Format: e.Args[0].Name, Span: e.Span}, e.Args[1:])
	case "join":
		g.join(e)
	case "assert":
		g.assert(e)
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
	case "percentiles":
		g.record(&Action{Kind: Percentiles, Map: e.m}, nil)
	case "print":
		g.print(e)
	case "delete":
		g.remove(e.Args[0])
		if g.opt.Missing && !e.m.Value.Aggregates() {
			there := g.newLabel()
			g.emit("if r0 == 0 goto %s", there)
			g.missing(e, "this key is not there, and cannot be deleted")
			g.label(there)
		}
	case "signal":
		g.number(e.Args[0])
		g.emit("r1 = r0")
		g.emit("call 109")
	case "commit", "discard":
		g.endSpeculation(e)
	case "exit":
		g.exit(e.Args)
	default:
		if e.Type.isNumber() {
			g.number(e)
		} else {
			g.memory(e)
		}
	}
}

func (g *generator) exit(code []*Expr) {
	g.emit("r1 = map[idx:%d][0]+%d", ControlMap, ControlActive)
	g.emit("*(u64 *)(r1 + 0) = 0")
	g.record(&Action{Kind: Exit}, code)
	g.emit("goto %s", g.out)
}

func (g *generator) assert(e *Expr) {
	holds := g.newLabel()
	g.branch(e.Args[0], holds, true)
	g.record(&Action{Kind: ErrorF, Format: "assert failed: " + strings.ReplaceAll(e.Args[1].Name, "%", "%%"), Span: e.Span, Via: e.Via}, nil)
	g.exit([]*Expr{{Span: e.Span, Kind: Number, Value: 1, Type: int64Type}})
	g.label(holds)
}

// missing says that a key was not where it was looked for, and when: a place is not to say it at each hit.
func (g *generator) missing(e *Expr, why string) {
	now := &Expr{Span: e.Span, Kind: Call, Name: "nsecs", Type: uint64Type}
	g.scoped(func() { g.record(&Action{Kind: NoKey, Format: why, Span: e.Span, Via: e.Via}, []*Expr{now}) })
}

// maxJoined is how many strings join() prints.
const maxJoined = 16

// join reads the strings of an array of pointers into one record.
func (g *generator) join(e *Expr) {
	a := &Action{Kind: Join, Format: " "}
	if len(e.Args) > 1 {
		a.Format = e.Args[1].Name
	}
	text := stringType(g.settings.MaxString)
	for range maxJoined {
		a.Args = append(a.Args, text)
	}
	g.number(e.Args[0])
	at, end := g.spill(), g.newLabel()
	to := g.begin(a, g.head()+maxJoined*text.Size())
	g.zero(to.plus(g.head()), maxJoined*text.Size())
	for i := range maxJoined {
		g.emit("r0 = *(u64 *)(%s)", at)
		g.emit("r0 += %d", 8*i)
		g.fetch(Type{Kind: Int, Bytes: 8, User: e.Args[0].Type.User})
		g.emit("if r0 == 0 goto %s", end)
		g.readString(to.plus(g.head()+i*text.Size()), text.Size(), fmt.Sprint(g.settings.MaxString), e.Args[0].Type.User || g.target.User)
	}
	g.label(end)
	g.send(to, a)
}

func (g *generator) print(e *Expr) {
	if v := e.Args[0]; e.m == nil && v.Kind == MapValue && len(v.Args) == 0 {
		g.record(&Action{Kind: PrintValue, Map: v.m}, []*Expr{v})
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
	if a.Bytes = g.head(); a.Span == (Span{}) {
		a.Span = g.at
	}
	for i, e := range args {
		t := e.Type
		switch {
		case a.Map == nil || i >= len(a.Map.Key):
		case isWholeKey(args): // as long as it is in the map
			t = Type{Kind: TupleOf, Elems: a.Map.Key}
		default:
			t = a.Map.Key[i]
		}
		a.Args = append(a.Args, t)
		a.Bytes += t.Size()
	}
	to := g.begin(a, a.Bytes)
	at := to.plus(g.head())
	for i, e := range args {
		g.write(e, at, a.Args[i])
		at = at.plus(a.Args[i].Size())
	}
	g.send(to, a)
}

// isWholeKey tells whether the arguments of a map are a tuple with all parts of its key.
func isWholeKey(args []*Expr) bool {
	return len(args) == 1 && args[0].Type.isPlainTuple()
}

// head is how many bytes stand before a record's values.
func (g *generator) head() int { return pick(g.opt.Stamps, 48, 8) + pick(g.settings.Speculates, 8, 0) }

// begin takes room for a record, and writes the number of its action; with stamps, the time, the thread, its name and
// the CPU.
func (g *generator) begin(a *Action, bytes int) place {
	a.Head, a.Bytes, a.Point, a.Stamps = g.head(), bytes, g.point, g.opt.Stamps
	to := g.room(bytes)
	g.emit("*(u64 *)(%s) = %d", to, len(g.unit.Actions))
	g.unit.Actions = append(g.unit.Actions, a)
	if a.Stamps {
		g.emit("call 5")
		g.emit("*(u64 *)(%s) = r0", to.plus(8))
		g.emit("call 14")
		g.emit("*(u64 *)(%s) = r0", to.plus(16))
		g.comm("comm", to.plus(24), 16)
		g.emit("call 8")
		g.emit("*(u64 *)(%s) = r0", to.plus(40))
	}
	if g.settings.Speculates {
		g.hold(to)
	}
	return to
}

func (g *generator) send(to place, a *Action) {
	g.emit("r1 = map[idx:%d]", RingMap)
	g.address("r2", to)
	g.emit("r3 = %d", a.Bytes)
	g.emit("r4 = 0")
	g.emit("call 130")
}
