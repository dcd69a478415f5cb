package syscall

import (
	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/linux/proc"
)

// ioctlTermio handles the requests of System V. They leave alone what a Termio has no space for.
func ioctlTermio(t *proc.Thread, term *tty.TTY, request, addr uint64) error {
	now := term.Termios()
	if request == abi.TCGETA {
		old := abi.Termio{Iflag: uint16(now.Iflag), Oflag: uint16(now.Oflag), Cflag: uint16(now.Cflag), Lflag: uint16(now.Lflag), Line: now.Line}
		copy(old.CC[:], now.CC[:])
		return put(t, addr, old)
	}
	to, err := get[abi.Termio](t, addr)
	if err == nil {
		err = mayChange(t, term)
	}
	if err != nil {
		return err
	}
	low := func(all *uint32, part uint16) { *all = *all&^0xffff | uint32(part) }
	low(&now.Iflag, to.Iflag)
	low(&now.Oflag, to.Oflag)
	low(&now.Cflag, to.Cflag)
	low(&now.Lflag, to.Lflag)
	now.Line = to.Line
	copy(now.CC[:], to.CC[:])
	return term.SetTermios(now, request != abi.TCSETA, request == abi.TCSETAF)
}
