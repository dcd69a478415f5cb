package lang

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/probe/task"
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
	case BlockOf:
		g.run(e.Body)
		g.number(e.Args[0])
	case Field:
		g.fieldNumber(e)
	case Index:
		g.indexNumber(e)
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
	if e.Type.Kind == Pointer {
		g.movePointer(e)
		return
	}
	switch op {
	case "&&", "||", "==", "!=", "<", "<=", ">", ">=":
		g.truth(e)
		return
	case "/", "%", ">>":
		if g.signed(e) {
			op = "s" + op
		}
	}
	if e.Op == "/" || e.Op == "%" {
		g.divide(e, op)
		return
	}
	g.scoped(func() {
		by := g.operands(e)
		if n, err := strconv.ParseInt(by, 0, 64); err == nil && strings.ContainsAny(op, "<>") {
			by = fmt.Sprint(n & 63) // as a register shifts; the verifier refuses other constants
		}
		g.emit("r0 %s= %s", op, by)
	})
}

// divide leaves 1 in R0 for a division by 0, as bpftrace does, and says so.
func (g *generator) divide(e *Expr, op string) {
	g.scoped(func() {
		by := g.operands(e)
		if by != "r1" && by != "0" {
			g.emit("r0 %s= %s", op, by)
			return
		}
		end, zero := g.newLabel(), g.newLabel()
		if by == "r1" {
			g.emit("if r1 == 0 goto %s", zero)
			g.emit("r0 %s= r1", op)
			g.emit("goto %s", end)
		}
		g.label(zero)
		g.missing(e, "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.")
		g.emit("r0 = 1")
		g.label(end)
	})
}

func (g *generator) stepNumber(e *Expr) {
	delta := int64(1)
	if e.Op == "--" {
		delta = -1
	}
	a := e.Args[0]
	if a.Type.Kind == Pointer {
		delta *= a.Type.stride()
	}
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

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

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
	case "username":
		g.emit("call 15")
		g.truncate(integer(4, false))
	case "usermode":
		g.usermode()
	case "ppid":
		g.emit("call 35")
		g.parent()
	case "ugoid":
		g.goroutine()
	case "func":
		g.hitAddress()
	case "ncpus":
		g.load("r0", int64(g.opt.CPUs))
	case "retval":
		g.register(*g.target.Result)
	case "comm", "probe":
		g.fail(e.Span, "%s is not a number", e.Name)
	default:
		if strings.HasPrefix(e.Name, "sarg") || g.target.OnStack && strings.HasPrefix(e.Name, "arg") {
			g.emit("r0 = *(u64 *)(r6 + %d)", goabi.PtRegsSP)
			g.emit("r0 += %d", 8*(e.Value+1)) // after the return address
			g.fetch(e.Type)
			return
		}
		g.emit("r0 = *(u64 *)(r6 + %d)", e.Value)
	}
}

// goroutine leaves the number of a Go program's goroutine in R0, whose g is in R14 where functions begin and end; of
// another program, the thread's.
func (g *generator) goroutine() {
	const r14 = 14
	if g.target.Goid == 0 {
		g.emit("call 14")
		g.truncate(integer(4, false))
		return
	}
	g.emit("r0 = *(u64 *)(r6 + %d)", goabi.PtReg(r14))
	g.emit("r0 += %d", g.target.Goid)
	g.read(uint64Type, true)
}

// parent leaves the number of the process that has started the task whose address is in R0: 0 for the kernel's.
func (g *generator) parent() {
	address, none := Type{Kind: Pointer, Bytes: 8}, g.newLabel()
	g.emit("r0 += %d", task.OffsetParent)
	g.read(address, false)
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r0 += %d", task.OffsetTGID)
	g.read(integer(4, false), false)
	g.label(none)
}

// usermode tells whether a program was interrupted: BEGIN and END run in the kernel.
func (g *generator) usermode() {
	if p := g.point.Provider; p == "begin" || p == "end" {
		g.emit("r0 = 0")
		return
	}
	yes := g.newLabel()
	g.emit("r1 = *(u64 *)(r6 + %d)", goabi.PtRegsCS)
	g.emit("r1 &= 3")
	g.emit("r0 = 1")
	g.emit("if r1 != 0 goto %s", yes)
	g.emit("r0 = 0")
	g.label(yes)
}

// hitAddress leaves the address of what was hit in R0: of the function, at a return; of the place that a
// tracepoint stands for.
func (g *generator) hitAddress() {
	if g.target.Result != nil || g.target.Record {
		g.emit("r1 = r6")
		g.emit("call 173")
		return
	}
	g.emit("r0 = *(u64 *)(r6 + %d)", goabi.PtRegsIP)
}

// stackID leaves the number of a stack in R0. Of a program, the process's number is in the high half: without
// it, no expression could name what is in the stack.
func (g *generator) stackID(e *Expr) {
	const user = 1 << 8
	g.emit("r1 = r6")
	g.emit("r2 = map[idx:%d]", g.stackMap(e.Type.Depth))
	g.emit("r3 = %d", pick(e.Type.User, user, 0))
	g.emit("call 27")
	if !e.Type.User {
		return
	}
	g.scoped(func() {
		id := g.spill()
		g.emit("call 14")
		g.emit("r0 >>= 32")
		g.emit("r0 <<= 32")
		g.emit("r1 = *(u64 *)(%s)", id)
		g.emit("r0 |= r1") // an error, which is negative, stays what it is but for its lowest bits
	})
}

// frames leaves in R0 how many calls a stack has.
func (g *generator) frames(e *Expr) {
	g.number(e)
	g.emit("r2 = r0")
	g.emit("r1 = map[idx:%d]", g.stackMap(e.Type.Depth))
	g.emit("call %d", bpf.HelperDepth)
}
