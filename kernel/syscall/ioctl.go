package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/vfs"
)

// terminal is what an open terminal can do beside being read and written.
type terminal interface {
	Termios() abi.Termios
	// SetTermios changes it: at once, when all is written (drain), and with what was
	// typed forgotten (flush).
	SetTermios(t abi.Termios, drain, flush bool) error
	Winsize() abi.Winsize
	SetWinsize(abi.Winsize)
	// Foreground is the group that reads, 0 for none.
	Foreground() int
	SetForeground(group int)
	// Control is what is the same for all who have the terminal open.
	Control() interface{ HangUp() }
}

func ioctl(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	switch a[1] {
	case abi.FIOCLEX:
		return done(filesOf(t).Descriptors().SetCloseOnExec(asInt(a[0]), true))
	case abi.FIONCLEX:
		return done(filesOf(t).Descriptors().SetCloseOnExec(asInt(a[0]), false))
	case abi.FIONBIO:
		return nonblocking(t, f, a[2])
	case abi.FIOASYNC:
		on, err := get[int32](t, a[2])
		if err != nil {
			return 0, err
		}
		return 0, f.SetAsync(on != 0, asInt(a[0]))
	case abi.FIOSETOWN:
		id, err := get[int32](t, a[2])
		if err != nil {
			return 0, err
		}
		return 0, setOwn(t, f, int(id))
	case abi.FIOGETOWN:
		return 0, put(t, a[2], int32(getOwn(f)))
	case abi.FIONREAD:
		b, ok := f.Handle().(interface{ Buffered() int })
		if !ok {
			return 0, sys.ENOTTY
		}
		return done(put(t, a[2], int32(b.Buffered())))
	}
	tty, ok := f.Handle().(terminal)
	if !ok {
		return 0, sys.ENOTTY
	}
	return ioctlTerminal(t, tty, a[1], a[2])
}

func nonblocking(t *proc.Thread, f *vfs.File, addr uint64) (uint64, error) {
	on, err := get[int32](t, addr)
	if err != nil {
		return 0, err
	}
	flags := f.Flags() &^ abi.O_NONBLOCK
	if on != 0 {
		flags |= abi.O_NONBLOCK
	}
	f.SetFlags(flags)
	return 0, nil
}

func ioctlTerminal(t *proc.Thread, tty terminal, request, addr uint64) (uint64, error) {
	switch request {
	case abi.TCGETS:
		return done(put(t, addr, tty.Termios()))
	case abi.TCSETS, abi.TCSETSW, abi.TCSETSF:
		to, err := get[abi.Termios](t, addr)
		if err == nil {
			err = mayChange(t, tty)
		}
		if err != nil {
			return 0, err
		}
		return done(tty.SetTermios(to, request != abi.TCSETS, request == abi.TCSETSF))
	case abi.TIOCGWINSZ:
		return done(put(t, addr, tty.Winsize()))
	case abi.TIOCSWINSZ:
		to, err := get[abi.Winsize](t, addr)
		if err == nil {
			tty.SetWinsize(to)
		}
		return 0, err
	case abi.TIOCGPGRP:
		return done(put(t, addr, int32(tty.Foreground())))
	case abi.TIOCSPGRP:
		return setForeground(t, tty, addr)
	case abi.TIOCSCTTY:
		return done(t.Process().SetTerminal(tty.Control()))
	case abi.TIOCNOTTY:
		return done(t.Process().SetTerminal(nil))
	case abi.TIOCGSID:
		_, s := t.Process().Group()
		return done(put(t, addr, int32(s)))
	}
	return 0, sys.ENOTTY
}

// setForeground lets a group of the caller's session read from the terminal.
func setForeground(t *proc.Thread, tty terminal, addr uint64) (uint64, error) {
	group, err := get[int32](t, addr)
	switch {
	case err != nil:
		return 0, err
	case group < 0:
		return 0, sys.EINVAL
	case !t.Process().HasGroup(int(group)):
		return 0, sys.EPERM
	}
	if err := mayChange(t, tty); err != nil {
		return 0, err
	}
	tty.SetForeground(int(group))
	return 0, nil
}
