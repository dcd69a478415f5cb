package program

// Trap context. Text that programs make of a format and words. The conversions are those that Linux's
// helpers know, but for symbols and addresses of networks:
//
//	%d %i %u %x %X, with l or ll for 64 bits   %c   %p   %s, %pks: a string of the kernel   %pus: of the process
//
// with - and 0 before a width of at most 64.

import (
	"syscall"
	"unsafe"

	"sonde/probe/attach"
)

// operands are the arguments of a format, each of 8 bytes.
type operands struct{ at, left uintptr }

func (w *operands) next() (v uint64, ok bool) {
	if w.left == 0 {
		return 0, false
	}
	v = *(*uint64)(pointer(w.at))
	w.at += wordSize
	w.left--
	return v, true
}

// An output is a text that is written to size bytes, of which the last is 0. n counts on when it is full.
type output struct {
	to, size, n uintptr
	cpu         int
	hit         *attach.Hit
}

func (o *output) put(c byte) {
	if o.n+1 < o.size {
		*byteAt(o.to + o.n) = c
	}
	o.n++
}

// end ends the text, and returns how many bytes it has or would have, with the last.
func (o *output) end() uintptr {
	if o.size > 0 {
		*byteAt(o.to + min(o.n, o.size-1)) = 0
	}
	return o.n + 1
}

// conversion is what is between % and its letter.
type conversion struct {
	left  bool
	zero  bool
	width uintptr
	long  bool
}

const maxWidth = 64

// format writes a format of at most n bytes.
func (o *output) format(at, n uintptr, args operands) syscall.Errno {
	for end := at + n; at < end; {
		c := *byteAt(at)
		at++
		if c == 0 {
			return 0
		}
		if c != '%' {
			o.put(c)
			continue
		}
		var conv conversion
		if at = conv.read(at, end); at == end {
			return syscall.EINVAL
		}
		letter := *byteAt(at)
		at++
		if letter == 'p' {
			letter, at = pointed(at, end)
		}
		if errno := o.convert(letter, &conv, &args); errno != 0 {
			return errno
		}
	}
	return syscall.EINVAL // it does not end
}

// read reads flags, width and size, and returns where the letter is.
func (c *conversion) read(at, end uintptr) uintptr {
	for ; at < end; at++ {
		switch b := *byteAt(at); {
		case b == '-':
			c.left = true
		case b == '0' && c.width == 0:
			c.zero = true
		case b >= '0' && b <= '9':
			c.width = min(10*c.width+uintptr(b-'0'), maxWidth)
		case b == 'l':
			c.long = true
		default:
			return at
		}
	}
	return at
}

// What the letters after %p mean: 'S' a string of the kernel, 'U' one of the process, 'P' the address.
func pointed(at, end uintptr) (letter byte, after uintptr) {
	if at+1 < end && *byteAt(at + 1) == 's' {
		switch *byteAt(at) {
		case 'k':
			return 'S', at + 2
		case 'u':
			return 'U', at + 2
		}
	}
	return 'P', at
}

// convert writes one argument.
func (o *output) convert(letter byte, c *conversion, args *operands) syscall.Errno {
	if letter == '%' {
		o.put('%')
		return 0
	}
	v, ok := args.next()
	if !ok {
		return syscall.EINVAL
	}
	switch letter {
	case 'd', 'i':
		if !c.long {
			v = uint64(int64(int32(v)))
		}
		o.signed(int64(v), c)
	case 'u', 'x', 'X':
		if !c.long {
			v = uint64(uint32(v))
		}
		o.number(v, letter, false, c)
	case 'P':
		o.number(v, letter, false, c)
	case 'c':
		o.pad(1, c, false)
		o.put(byte(v))
		o.pad(1, c, true)
	case 's', 'S', 'U':
		o.copy(uintptr(v), letter == 'U', c)
	default:
		return syscall.EINVAL
	}
	return 0
}

func (o *output) signed(v int64, c *conversion) {
	if v < 0 {
		o.number(-uint64(v), 'u', true, c)
		return
	}
	o.number(uint64(v), 'u', false, c)
}

// pad fills up a text of n bytes to the width, before it or after it.
func (o *output) pad(n uintptr, c *conversion, after bool) {
	for ; after == c.left && n < c.width; n++ {
		o.put(' ')
	}
}

// number writes a number: decimal, or with the digits of x and X, or as an address.
func (o *output) number(v uint64, letter byte, negative bool, c *conversion) {
	var digits [20]byte
	n := uintptr(0)
	for first := true; first || v != 0; first = false {
		d := byte(v & 15)
		if letter == 'u' {
			d = byte(v % 10)
			v /= 10
		} else {
			v >>= 4
		}
		switch {
		case d < 10:
			d += '0'
		case letter == 'X':
			d += 'A' - 10
		default:
			d += 'a' - 10
		}
		digits[n] = d
		n++
	}
	size := n
	if negative {
		size++
	}
	if letter == 'P' {
		size += 2
	}
	zeroes := uintptr(0)
	if c.zero && !c.left && size < c.width {
		zeroes = c.width - size
	}
	o.pad(size+zeroes, c, false)
	if negative {
		o.put('-')
	}
	if letter == 'P' {
		o.put('0')
		o.put('x')
	}
	for range zeroes {
		o.put('0')
	}
	for ; n > 0; n-- {
		o.put(digits[n-1])
	}
	o.pad(size, c, true)
}

// copy writes a string, as far as it can be read and there is room.
func (o *output) copy(from uintptr, user bool, c *conversion) {
	room := uintptr(0)
	if o.n < o.size {
		room = o.size - o.n
	}
	piece := &scratch[o.cpu].piece
	n := uintptr(0)
	for n < room {
		at, got := uintptr(unsafe.Pointer(piece)), min(room-n, maxWidth)
		if user {
			got = peek(o.hit, o.cpu, unsafe.Pointer(piece), got, from+n)
		} else {
			got = readable(from+n, got)
			at = from + n
		}
		i := uintptr(0)
		for ; i < got && *byteAt(at + i) != 0; i++ {
			o.put(*byteAt(at + i))
		}
		n += i
		if i < maxWidth {
			break
		}
	}
	o.pad(n, c, true)
}
