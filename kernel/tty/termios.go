package tty

import "sonde/kernel/abi"

// Termios is the modes of a terminal.
type Termios = abi.Termios

// Flags of the modes; what is not here is kept, and means nothing.
//
// Source: Linux, uapi/asm-generic/termbits.h.
const (
	INLCR   = 0x0040 // of Iflag
	IGNCR   = 0x0080
	ICRNL   = 0x0100
	IXON    = 0x0400
	IXANY   = 0x0800
	IMAXBEL = 0x2000
	IUTF8   = 0x4000

	OPOST  = 0x0001 // of Oflag
	ONLCR  = 0x0004
	OCRNL  = 0x0008
	ONOCR  = 0x0010
	ONLRET = 0x0020
	XTABS  = 0x1800

	ISIG    = 0x0001 // of Lflag
	ICANON  = 0x0002
	ECHO    = 0x0008
	ECHOE   = 0x0010
	ECHOK   = 0x0020
	ECHONL  = 0x0040
	NOFLSH  = 0x0080
	TOSTOP  = 0x0100
	ECHOCTL = 0x0200
	ECHOKE  = 0x0800
	IEXTEN  = 0x8000
)

// Places in CC.
const (
	VINTR    = 0
	VQUIT    = 1
	VERASE   = 2
	VKILL    = 3
	VEOF     = 4
	VTIME    = 5
	VMIN     = 6
	VSTART   = 8
	VSTOP    = 9
	VSUSP    = 10
	VEOL     = 11
	VREPRINT = 12
	VWERASE  = 14
	VLNEXT   = 15
	VEOL2    = 16
)

// Sane is how a terminal starts, and what "stty sane" makes of it: 38400 baud, 8 bits.
var Sane = Termios{
	Iflag: ICRNL | IXON | IUTF8,
	Oflag: OPOST | ONLCR,
	Cflag: 0x04bf,
	Lflag: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	CC:    [19]uint8{3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0},
}

// is reports whether c is the special character at a place. Zero is none.
func (t *TTY) is(c byte, place int) bool { return c != 0 && t.termios.CC[place] == c }
