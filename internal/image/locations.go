package image

import (
	"encoding/binary"

	"sonde/gotypes"
)

// locations are DWARF's lists of where variables are.
//
// Source: DWARF 5, sections 2.5, 2.6.2, 7.7 and 7.27.
type locations struct {
	lists, addrs []byte
	base         int64 // of the unit's addresses in addrs
}

func (f *elfFile) locations() (l locations, err error) {
	for name, to := range map[string]*[]byte{".debug_loclists": &l.lists, ".debug_addr": &l.addrs} {
		if *to, _, err = f.section(name); err != nil {
			return l, err
		}
	}
	return l, nil
}

// The entries of lists that Go's compiler writes.
const (
	listEnd         = 0
	listBase        = 1 // by its index
	listPair        = 4
	listBaseAddress = 6
)

// at returns what the list at an offset has for an address.
func (l *locations) at(off int64, addr uint64) (expr []byte, ok bool) {
	c := cursor{l.lists[min(uint64(off), uint64(len(l.lists))):]}
	for base := uint64(0); ; {
		switch kind := c.byte(); kind {
		case listBase:
			at := uint64(l.base) + 8*c.unsigned()
			if at+8 > uint64(len(l.addrs)) {
				return nil, false
			}
			base = binary.LittleEndian.Uint64(l.addrs[at:])
		case listBaseAddress:
			base = c.word()
		case listPair:
			begin, end := base+c.unsigned(), base+c.unsigned()
			expr = c.take(c.unsigned())
			if begin <= addr && addr < end {
				return expr, true
			}
		default: // the end, or what is not known
			return nil, false
		}
	}
}

// The operations of places: in a register, on the stack, and how much of a value is there.
const (
	opReg0     = 0x50
	opReg31    = 0x6F
	opRegX     = 0x90
	opFrame    = 0x91 // and a distance from the caller's stack
	opPiece    = 0x93
	opFrameCFA = 0x9C // that distance is 0
)

// machine are the registers' numbers in instructions, by DWARF's.
var machine = [...]uint8{0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15}

// spotOf reads a place: a register for each word, or one place on the stack; frame is how far the caller's
// stack is above the stack pointer. What is spread, or not all there, is not known.
func spotOf(expr []byte, frame int) (s gotypes.Spot) {
	c, next := cursor{expr}, 0
	for first := true; len(c.rest) > 0; first = false {
		reg, stack, isReg := uint64(0), 0, true
		switch op := c.byte(); {
		case opReg0 <= op && op <= opReg31:
			reg = uint64(op - opReg0)
		case op == opRegX:
			reg = c.unsigned()
		case op == opFrame:
			isReg, stack = false, frame+c.signed()
		case op == opFrameCFA:
			isReg, stack = false, frame
		default:
			return gotypes.Spot{}
		}
		size := 0
		if len(c.rest) > 0 {
			if c.byte() != opPiece {
				return gotypes.Spot{}
			}
			size = int(c.unsigned())
		}
		switch {
		case isReg && reg < uint64(len(machine)) && (first || !s.OnStack):
			s.Regs = append(s.Regs, machine[reg])
		case !isReg && first:
			s.OnStack, s.Stack = true, stack
		case isReg || !s.OnStack || stack != next:
			return gotypes.Spot{}
		}
		next = stack + size
	}
	return s
}

// cursor reads numbers. After the end, all are 0.
type cursor struct{ rest []byte }

func (c *cursor) take(n uint64) (b []byte) {
	n = min(n, uint64(len(c.rest)))
	b, c.rest = c.rest[:n], c.rest[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

func (c *cursor) word() uint64 {
	if b := c.take(8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) unsigned() uint64 {
	v, n := binary.Uvarint(c.rest)
	c.take(uint64(max(n, 0)))
	return v
}

func (c *cursor) signed() int {
	v := int64(0)
	for shift := 0; shift < 64; {
		b := c.byte()
		v |= int64(b&0x7F) << shift
		if shift += 7; b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			break
		}
	}
	return int(v)
}
