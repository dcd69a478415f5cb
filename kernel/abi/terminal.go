package abi

// Termios is struct termios of the kernel.
type Termios struct {
	Iflag, Oflag, Cflag, Lflag uint32
	Line                       uint8
	CC                         [19]uint8
}

// Termio is struct termio, of System V: the lower halves of the flags of a Termios.
type Termio struct {
	Iflag, Oflag, Cflag, Lflag uint16
	Line                       uint8
	CC                         [8]uint8
	_                          uint8
}

// Winsize is struct winsize.
type Winsize struct{ Rows, Cols, XPixel, YPixel uint16 }

// Requests of ioctl.
const (
	TCGETS     = 0x5401
	TCSETS     = 0x5402
	TCSETSW    = 0x5403
	TCSETSF    = 0x5404
	TCGETA     = 0x5405
	TCSETA     = 0x5406
	TCSETAW    = 0x5407
	TCSETAF    = 0x5408
	TCSBRK     = 0x5409
	TCXONC     = 0x540a
	TCFLSH     = 0x540b
	TIOCSCTTY  = 0x540e
	TIOCGPGRP  = 0x540f
	TIOCSPGRP  = 0x5410
	TIOCGWINSZ = 0x5413
	TIOCSWINSZ = 0x5414
	TIOCOUTQ   = 0x5411
	FIONREAD   = 0x541b
	FIONBIO    = 0x5421
	FIOASYNC   = 0x5452
	FIOSETOWN  = 0x8901
	FIOGETOWN  = 0x8903
	TIOCNOTTY  = 0x5422
	TIOCGSID   = 0x5429
	FIONCLEX   = 0x5450
	FIOCLEX    = 0x5451

	FICLONE      = 0x40049409
	FICLONERANGE = 0x4020940d
	RNDGETENTCNT = 0x80045200

	TCSBRKP        = 0x5425
	TIOCGLCKTRMIOS = 0x5456

	TIOCGPTPEER = 0x5441
	TIOCGPTN    = 0x80045430
	TIOCSPTLCK  = 0x40045431
	TIOCGPTLCK  = 0x80045439
)

// What TCFLSH forgets, and what TCXONC stops and starts.
const (
	TCIFLUSH  = 0
	TCOFLUSH  = 1
	TCIOFLUSH = 2

	TCOOFF = 0
	TCOON  = 1
	TCIOFF = 2
	TCION  = 3
)
