package cfi

// The registers' numbers here; others are not kept track of.
//
// Source: System V ABI, AMD64, "DWARF Register Number Mapping".
const (
	RAX = iota
	RDX
	RCX
	RBX
	RSI
	RDI
	RBP
	RSP
	R8
	R15  = R8 + 7
	RIP  = 16
	Regs = RIP + 1
)

// Kind is how a caller's register is found.
type Kind uint8

// The kinds.
const (
	Same      Kind = iota // it has not been changed
	Undefined             // not at all. RIP: there is no caller
	At                    // in memory, at CFA + Offset
	Is                    // it is CFA + Offset
	In                    // in register Offset
	AtExpr                // in memory, where Expr says
	IsExpr                // it is what Expr says
)

// Rule says how one is found.
type Rule struct {
	Kind   Kind
	Offset int64
	Expr   []byte
}

// Row is what holds at one instruction. CFA is the address above the return address.
type Row struct {
	CFA    Rule // IsExpr, or In: register CFAReg plus Offset
	CFAReg uint64
	Reg    [Regs]Rule
	Signal bool // the caller was interrupted by a signal: its IP is no return address
}

const (
	maxSaved   = 16       // rows that are remembered; compilers need 1
	maxProgram = 64 << 10 // bytes of an entry's program: it is run for each frame of a stack
)

// machine runs the table's program up to an instruction.
type machine struct {
	reader
	c       *common
	loc, pc uint64
	row     Row
	initial Row
	saved   []Row
}

// Row returns what holds at pc, which is in e.
//
// Errors: ErrFormat.
func (e *Entry) Row(pc uint64) (Row, error) {
	m := machine{c: e.common, loc: e.Begin, pc: pc}
	m.row.Reg[RIP].Kind = Undefined
	if m.c.ra != RIP || len(m.c.code)+len(e.code) > maxProgram {
		return Row{}, ErrFormat
	}
	m.b = m.c.code
	m.run()
	m.initial, m.loc = m.row, e.Begin
	m.b, m.pos = e.code, 0
	m.run()
	if m.bad {
		return Row{}, ErrFormat
	}
	m.row.Signal = m.c.signal
	return m.row, nil
}

func (m *machine) run() {
	for m.left() > 0 && m.loc <= m.pc && !m.bad {
		op := m.uint(1)
		switch low := op & 0x3f; op >> 6 {
		case 1:
			m.loc += low * m.c.codeAlign
		case 2:
			m.set(low, Rule{At, int64(m.uleb()) * m.c.dataAlign, nil})
		case 3:
			m.restore(low)
		default:
			m.other(low)
		}
	}
}

// set sets the rule of a register.
func (m *machine) set(reg uint64, r Rule) {
	if reg < Regs {
		m.row.Reg[reg] = r
	}
}

func (m *machine) restore(reg uint64) {
	if reg < Regs {
		m.row.Reg[reg] = m.initial.Reg[reg]
	}
}

// other is the operations whose low bits are no operand.
func (m *machine) other(op uint64) {
	switch op {
	case 0x00: // nop
	case 0x01: // set_loc
		m.bad = true // not where compilers use relative addresses
	case 0x02, 0x03, 0x04: // advance_loc1, 2, 4
		m.loc += m.uint(1<<(op-2)) * m.c.codeAlign
	case 0x0a: // remember_state
		if m.saved = append(m.saved, m.row); len(m.saved) > maxSaved {
			m.bad = true
		}
	case 0x0b: // restore_state
		if len(m.saved) == 0 {
			m.bad = true
			return
		}
		m.row, m.saved = m.saved[len(m.saved)-1], m.saved[:len(m.saved)-1]
	case 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13:
		m.cfa(op)
	case 0x2e: // GNU_args_size
		m.uleb()
	default:
		m.rule(op, m.uleb())
	}
}

// cfa sets the rule of the CFA.
func (m *machine) cfa(op uint64) {
	r := &m.row
	if op == 0x0c || op == 0x0d || op == 0x12 { // def_cfa, def_cfa_register, def_cfa_sf
		r.CFAReg = m.uleb()
		r.CFA.Kind = In
	}
	switch op {
	case 0x0c, 0x0e: // def_cfa, def_cfa_offset
		r.CFA.Offset = int64(m.uleb())
	case 0x12, 0x13: // def_cfa_sf, def_cfa_offset_sf
		r.CFA.Offset = m.sleb() * m.c.dataAlign
	case 0x0f: // def_cfa_expression
		r.CFA = Rule{IsExpr, 0, m.block()}
	}
}

// rule sets a register's.
func (m *machine) rule(op, reg uint64) {
	switch op {
	case 0x05: // offset_extended
		m.set(reg, Rule{At, int64(m.uleb()) * m.c.dataAlign, nil})
	case 0x06: // restore_extended
		m.restore(reg)
	case 0x07: // undefined
		m.set(reg, Rule{Kind: Undefined})
	case 0x08: // same_value
		m.set(reg, Rule{Kind: Same})
	case 0x09: // register
		m.set(reg, Rule{In, int64(m.uleb()), nil})
	case 0x10: // expression
		m.set(reg, Rule{AtExpr, 0, m.block()})
	case 0x11: // offset_extended_sf
		m.set(reg, Rule{At, m.sleb() * m.c.dataAlign, nil})
	case 0x14: // val_offset
		m.set(reg, Rule{Is, int64(m.uleb()) * m.c.dataAlign, nil})
	case 0x15: // val_offset_sf
		m.set(reg, Rule{Is, m.sleb() * m.c.dataAlign, nil})
	case 0x16: // val_expression
		m.set(reg, Rule{IsExpr, 0, m.block()})
	default:
		m.bad = true
	}
}
