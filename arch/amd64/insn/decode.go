package insn

// decoder reads the bytes of one instruction. The first error is kept; after it next returns zeros,
// so that callers need not check each byte.
type decoder struct {
	code []byte
	pos  uint8
	err  failure
	in   Inst
}

// A failure is an index into failures: storing an error would need a write barrier, which trap
// context must not have.
type failure uint8

const (
	whole failure = iota
	truncated
	tooLong
	invalid
	refused
)

var failures = [...]error{truncated: ErrTruncated, tooLong: ErrTooLong, invalid: ErrInvalid, refused: ErrRefused}

// Decode decodes the instruction at the start of code.
//
// Context: any, including trap context.
// Errors:  ErrTruncated, ErrTooLong, ErrInvalid, ErrRefused; the Inst is zero then.
// Source:  Intel SDM vol. 2, "Instruction Format".
func Decode(code []byte) (Inst, error) {
	d := decoder{code: code}
	op := d.prefixes()
	var shape byte
	switch op {
	case 0x0F:
		shape = d.escape()
	case 0xC4, 0xC5:
		shape = d.vex(op)
	case 0x62:
		shape = d.evex()
	default:
		d.opcode(Map1B, op)
		shape = oneByte.at(op)
	}
	d.operands(shape)
	if d.err != whole {
		return Inst{}, failures[d.err]
	}
	d.in.Len = d.pos
	d.in.Flow = flow(&d.in)
	d.in.Trait = trait(&d.in)
	return d.in, nil
}

func (d *decoder) fail(err failure) {
	if d.err == whole {
		d.err = err
	}
}

// next returns the next byte, or 0 after an error.
func (d *decoder) next() byte {
	switch {
	case d.err != whole:
		return 0
	case d.pos >= MaxLen:
		d.err = tooLong
		return 0
	case int(d.pos) >= len(d.code):
		d.err = truncated
		return 0
	}
	b := d.code[d.pos]
	d.pos++
	return b
}

// field reads n little-endian bytes and returns their offset and value.
func (d *decoder) field(n uint8) (off uint8, v uint64) {
	off = d.pos
	for k := range n {
		v |= uint64(d.next()) << (8 * k)
	}
	return off, v
}

// opcode records the opcode byte just read.
func (d *decoder) opcode(m Map, op byte) {
	d.in.Map, d.in.Opcode = m, op
	d.in.OpOff = d.pos - 1
}

// prefixes reads legacy prefixes and REX and returns the byte after them.
func (d *decoder) prefixes() byte {
	for {
		b := d.next()
		if d.err != whole {
			return 0
		}
		p := prefixOf(b)
		if p == 0 {
			return b
		}
		if d.in.Prefix.Has(PREX) { // a prefix after REX: that REX is ignored
			d.in.Prefix = d.in.Prefix&^PREX | PStray
			d.in.REX = 0
		}
		switch p {
		case PREX:
			d.in.REX = b & 15
		case PF2, PF3:
			d.in.Prefix &^= PF2 | PF3
		}
		d.in.Prefix |= p
	}
}

func prefixOf(b byte) Prefix {
	switch b {
	case 0x66:
		return P66
	case 0x67:
		return P67
	case 0xF2:
		return PF2
	case 0xF3:
		return PF3
	case 0xF0:
		return PLock
	case 0x26, 0x2E, 0x36, 0x3E:
		return PSeg
	case 0x64:
		return PFS
	case 0x65:
		return PGS
	}
	if b&0xF0 == 0x40 {
		return PREX
	}
	return 0
}

// escape reads the opcode after 0F and returns its shape.
func (d *decoder) escape() byte {
	switch b := d.next(); b {
	case 0x38:
		return d.listed(Map0F38, &legacy38, d.mandatory(), 'M', d.next())
	case 0x3A:
		return d.listed(Map0F3A, &legacy3A, d.mandatory(), 'B', d.next())
	default:
		return d.listed(Map0F, &legacy0F, d.mandatory(), twoByte.at(b), b)
	}
}

// listed records opcode b of map m, just read, checks that the map defines it for the mandatory
// prefix pp, and returns shape.
func (d *decoder) listed(m Map, defined *bitmap, pp uint8, shape, b byte) byte {
	d.opcode(m, b)
	if !defined.has(b, pp) {
		d.fail(invalid)
	}
	return shape
}

// mandatory returns the prefix that selects the instruction in the SSE maps,
// numbered as VEX.pp: none, 66, F3, F2. F2 and F3 go before 66. CRC32 and
// MOVBE allow 66 beside F2, the tables list them under both.
func (d *decoder) mandatory() uint8 {
	switch p := d.in.Prefix; {
	case p.Has(PF2):
		return 3
	case p.Has(PF3):
		return 2
	case p.Has(P66):
		return 1
	}
	return 0
}
