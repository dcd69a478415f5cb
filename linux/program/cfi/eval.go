package cfi

// State is the registers at an instruction, by DWARF's numbers, and the memory.
type State struct {
	Reg  [Regs]uint64
	Load func(addr uint64) (v uint64, ok bool)
}

// Caller makes s the registers of the caller. Not ok: there is none, or memory is not
// there.
//
// Errors: ErrFormat.
func (row *Row) Caller(s *State) (ok bool, err error) {
	cfa, err := row.cfaOf(s)
	if err != nil {
		return false, err
	}
	old := *s
	s.Reg[RSP] = cfa
	for n := range row.Reg {
		v, ok, err := row.Reg[n].value(&old, cfa)
		if err != nil || !ok && n == RIP {
			*s = old
			return false, err
		}
		if ok && (n != RSP || row.Reg[n].Kind != Same) {
			s.Reg[n] = v
		}
	}
	return true, nil
}

func (row *Row) cfaOf(s *State) (uint64, error) {
	switch {
	case row.CFA.Kind == IsExpr:
		return s.eval(row.CFA.Expr, 0, false)
	case row.CFA.Kind == In && row.CFAReg < Regs:
		return s.Reg[row.CFAReg] + uint64(row.CFA.Offset), nil
	}
	return 0, ErrFormat
}

// value returns the register whose rule is r; RIP's must have one.
func (r *Rule) value(s *State, cfa uint64) (v uint64, ok bool, err error) {
	addr := cfa + uint64(r.Offset)
	switch r.Kind {
	case Is:
		return addr, true, nil
	case In:
		if r.Offset >= 0 && r.Offset < Regs {
			return s.Reg[r.Offset], true, nil
		}
		return 0, false, ErrFormat
	case IsExpr:
		v, err = s.eval(r.Expr, cfa, true)
		return v, err == nil, err
	case AtExpr:
		if addr, err = s.eval(r.Expr, cfa, true); err != nil {
			return 0, false, err
		}
	case At:
	default:
		return 0, false, nil
	}
	v, ok = s.Load(addr)
	return v, ok, nil
}

// Operations of expressions, those that tables of C programs have: the lazy binding of
// the PLT, and signal frames.
const (
	opAddr    = 0x03
	opDeref   = 0x06
	opConst1u = 0x08
	opConst8s = 0x0f
	opConstu  = 0x10
	opConsts  = 0x11
	opAnd     = 0x1a
	opMinus   = 0x1c
	opPlus    = 0x22
	opUconst  = 0x23
	opShl     = 0x24
	opGe      = 0x2a
	opLit0    = 0x30
	opBreg0   = 0x70
)

const maxStack = 64

// eval evaluates an expression. first is on the stack, if has.
func (s *State) eval(expr []byte, first uint64, has bool) (uint64, error) {
	r := reader{b: expr}
	var stack []uint64
	if has {
		stack = append(stack, first)
	}
	pop := func() (v uint64) {
		if len(stack) == 0 {
			r.bad = true
			return 0
		}
		v, stack = stack[len(stack)-1], stack[:len(stack)-1]
		return v
	}
	for r.left() > 0 && !r.bad && len(stack) < maxStack {
		v, ok := r.operand(s, r.uint(1), pop)
		if !ok {
			return 0, ErrFormat
		}
		stack = append(stack, v)
	}
	v := pop()
	if r.bad || r.left() > 0 {
		return 0, ErrFormat
	}
	return v, nil
}

// operand does one operation, all of which push one value.
func (r *reader) operand(s *State, op uint64, pop func() uint64) (v uint64, ok bool) {
	switch {
	case op >= opLit0 && op < opLit0+32:
		return op - opLit0, true
	case op >= opBreg0 && op < opBreg0+Regs:
		return s.Reg[op-opBreg0] + uint64(r.sleb()), true
	case op >= opConst1u && op <= opConst8s:
		n := 1 << ((op - opConst1u) / 2)
		if op%2 == 0 {
			return r.uint(n), true
		}
		return uint64(r.int(n)), true
	}
	switch op {
	case opAddr:
		return r.uint(8), true
	case opConstu:
		return r.uleb(), true
	case opConsts:
		return uint64(r.sleb()), true
	case opUconst:
		return pop() + r.uleb(), true
	case opDeref:
		return s.Load(pop())
	}
	b, a := uint64(0), uint64(0)
	switch op {
	case opAnd, opMinus, opPlus, opShl, opGe:
		b, a = pop(), pop()
	}
	switch op {
	case opAnd:
		return a & b, true
	case opMinus:
		return a - b, true
	case opPlus:
		return a + b, true
	case opShl:
		return a << b, true
	case opGe:
		if int64(a) >= int64(b) {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
