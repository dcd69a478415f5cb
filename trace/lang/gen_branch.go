package lang

import (
	"encoding/binary"
	"strings"
)

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
	case e.Kind == Binary && opposite[e.Op] != "" && !e.Args[0].Type.isNumber():
		g.scoped(func() { g.compareMemory(e, label, when) })
	case e.Kind == Binary && opposite[e.Op] != "":
		g.compareNumbers(e, label, when)
	default:
		g.scoped(func() { g.number(e) })
		g.emit("if r0 %s 0 goto %s", map[bool]string{true: "!=", false: "=="}[when], label)
	}
}

func (g *generator) compareNumbers(e *Expr, label string, when bool) {
	op := e.Op
	if !when {
		op = opposite[op]
	}
	if op != "==" && op != "!=" && g.signed(e) {
		op = "s" + op
	}
	g.scoped(func() { g.emit("if r0 %s %s goto %s", op, g.operands(e), label) })
}

// compareMemory compares tuples and buffers word by word.
func (g *generator) compareMemory(e *Expr, label string, when bool) {
	equal := (e.Op == "==") == when
	differ := label
	if equal {
		differ = g.newLabel()
	}
	t := e.Args[0].Type.wider(e.Args[1].Type)
	a, b := g.room(t.Size()), g.room(t.Size())
	g.write(e.Args[0], a, t)
	g.write(e.Args[1], b, t)
	for i := 0; i < t.Size(); i += 8 {
		g.emit("r0 = *(u64 *)(%s)", a.plus(i))
		g.emit("r1 = *(u64 *)(%s)", b.plus(i))
		g.emit("if r0 != r1 goto %s", differ)
	}
	if equal {
		g.emit("goto %s", label)
		g.label(differ)
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
	if b.Kind == Text && a.Kind != Text && len(b.Name) >= a.Type.Size() { // it is longer than what it is compared with can be
		if !equal {
			g.emit("goto %s", label)
		}
		return
	}
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
	s, _, _ = strings.Cut(s, "\x00")
	copy(b[:max(0, bytes-1)], s)
	all := make([]uint64, bytes/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}
