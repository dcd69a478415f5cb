package cfi

import "encoding/binary"

// reader reads numbers. What is not there is 0, and makes it bad.
type reader struct {
	b    []byte
	pos  int
	addr uint64 // of b
	bad  bool
}

func (r *reader) left() int { return len(r.b) - r.pos }

// uint reads n bytes, the lowest first.
func (r *reader) uint(n int) (v uint64) {
	if n > r.left() {
		r.bad, r.pos = true, len(r.b)
		return 0
	}
	for i := range n {
		v |= uint64(r.b[r.pos+i]) << (8 * i)
	}
	r.pos += n
	return v
}

// int is uint with a sign.
func (r *reader) int(n int) int64 {
	shift := 64 - 8*n
	return int64(r.uint(n)<<shift) >> shift
}

func (r *reader) skip(n uint64) {
	if n > uint64(r.left()) {
		r.bad, n = true, uint64(r.left())
	}
	r.pos += int(n)
}

func (r *reader) rest() []byte {
	start := r.pos
	r.pos = len(r.b)
	return r.b[start:]
}

// text reads up to a zero.
func (r *reader) text() string {
	start := r.pos
	for r.pos < len(r.b) && r.b[r.pos] != 0 {
		r.pos++
	}
	s := string(r.b[start:r.pos])
	r.uint(1)
	return s
}

func (r *reader) uleb() uint64 {
	v, _ := r.leb()
	return v
}

func (r *reader) sleb() int64 {
	v, bits := r.leb()
	shift := max(64-bits, 0)
	return int64(v<<shift) >> shift
}

// leb returns a number of groups of 7 bits, and how many bits these are.
func (r *reader) leb() (v uint64, bits int) {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.bad, r.pos = true, len(r.b)
		return 0, 0
	}
	r.pos += n
	return v, 7 * n
}

// Encodings of pointers.
const (
	relative = 0x10 // to where the pointer stands
	indirect = 0x80 // it is the address of the pointer
	omitted  = 0xff
)

func (r *reader) pointer(encoding byte) (v uint64) {
	here := r.addr + uint64(r.pos)
	if encoding == omitted {
		return 0
	}
	switch encoding & 0x0f {
	case 0, 4, 12:
		v = r.uint(8)
	case 1:
		v = r.uleb()
	case 2:
		v = r.uint(2)
	case 3:
		v = r.uint(4)
	case 9:
		v = uint64(r.sleb())
	case 10:
		v = uint64(r.int(2))
	case 11:
		v = uint64(r.int(4))
	default:
		r.bad = true
	}
	switch encoding & 0xf0 {
	case 0:
	case relative:
		v += here
	default:
		r.bad = true
	}
	return v
}
