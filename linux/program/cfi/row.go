package cfi

// Numbers of registers here.
//
// Source: System V ABI, AMD64, "DWARF Register Number Mapping".
const (
	RSP = 7
	rip = 16
)

// Row is what holds at one instruction: the return address is below the CFA, which is Offset
// bytes above a register.
type Row struct {
	Known  bool // otherwise an expression computes the CFA
	Reg    uint64
	Offset int64
}

const (
	maxSaved   = 16       // rows that are remembered; compilers need 1
	maxProgram = 64 << 10 // bytes of an entry's program: it is run for each question
)

// machine runs the table's program up to an instruction.
type machine struct {
	reader
	c       *common
	loc, pc uint64
	row     Row
	saved   []Row
}

// Row returns what holds at pc, which is in e.
//
// Errors: ErrFormat.
func (e *Entry) Row(pc uint64) (Row, error) {
	m := machine{c: e.common, pc: pc}
	if m.c.ra != rip || len(m.c.code)+len(e.code) > maxProgram {
		return Row{}, ErrFormat
	}
	for _, code := range [][]byte{m.c.code, e.code} {
		m.b, m.pos, m.loc = code, 0, e.Begin
		m.run()
	}
	if m.bad {
		return Row{}, ErrFormat
	}
	return m.row, nil
}

func (m *machine) run() {
	for m.left() > 0 && m.loc <= m.pc && !m.bad {
		op := m.uint(1)
		switch low := op & 0x3f; op >> 6 {
		case 1: // advance_loc
			m.loc += low * m.c.codeAlign
		case 2: // offset
			m.uleb()
		case 3: // restore
		default:
			m.other(low)
		}
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
		m.uleb() // the register
		m.skipRule(op)
	}
}

// cfa sets where the CFA is.
func (m *machine) cfa(op uint64) {
	r := &m.row
	if op == 0x0c || op == 0x0d || op == 0x12 { // def_cfa, def_cfa_register, def_cfa_sf
		r.Known, r.Reg = true, m.uleb()
	}
	switch op {
	case 0x0c, 0x0e: // def_cfa, def_cfa_offset
		r.Offset = int64(m.uleb())
	case 0x12, 0x13: // def_cfa_sf, def_cfa_offset_sf
		r.Offset = m.sleb() * m.c.dataAlign
	case 0x0f: // def_cfa_expression
		r.Known = false
		m.skip(m.uleb())
	}
}

// skipRule skips how the caller's value of a register is found.
func (m *machine) skipRule(op uint64) {
	switch op {
	case 0x06, 0x07, 0x08: // restore_extended, undefined, same_value
	case 0x05, 0x09, 0x11, 0x14, 0x15: // offset_extended, register, offset_extended_sf, val_offset, val_offset_sf
		m.uleb()
	case 0x10, 0x16: // expression, val_expression
		m.skip(m.uleb())
	default:
		m.bad = true
	}
}
