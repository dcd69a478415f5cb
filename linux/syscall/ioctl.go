package syscall

import (
	"fmt"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
	"sonde/linux/perf"
	"sonde/linux/proc"
)

// terminalOf returns the terminal that a handle is of, as a master or not; nil: it is of none.
func terminalOf(h vfs.Handle) (term *tty.TTY, master bool) {
	switch h := h.(type) {
	case tty.Handle:
		return h.TTY, false
	case *tty.Master:
		return h.TTY, true
	}
	return nil, false
}

func ioctl(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
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
	case abi.FICLONE:
		return 0, cloneFile(t, f, a[2])
	case abi.FICLONERANGE:
		return 0, cloneRange(t, f, a[2])
	case abi.RNDGETENTCNT:
		r, ok := f.Handle().(interface{ Entropy() int })
		if !ok {
			return 0, sys.ENOTTY
		}
		return done(put(t, a[2], int32(r.Entropy())))
	case abi.FIONREAD:
		b, ok := f.Handle().(interface{ Buffered() int })
		if !ok {
			return 0, sys.ENOTTY
		}
		return done(put(t, a[2], int32(b.Buffered())))
	}
	if m, ok := f.Handle().(*tty.Master); ok {
		if v, err := ioctlMaster(t, m, a[1], a[2]); err != sys.ENOTTY {
			return v, err
		}
	}
	if e, err := perf.Of(f); err == nil {
		return done(ioctlPerf(t, e, a[1], a[2]))
	}
	term, master := terminalOf(f.Handle())
	switch {
	case term == nil:
		return 0, sys.ENOTTY
	case !master && term.HungUp():
		return 0, sys.EIO
	}
	return ioctlTerminal(t, term, master, a[1], a[2])
}

// ioctlMaster handles requests that only the master of a pseudo-terminal has.
func ioctlMaster(t *proc.Thread, m *tty.Master, request, arg uint64) (uint64, error) {
	switch request {
	case abi.TIOCGPTN:
		return done(put(t, arg, int32(m.Number)))
	case abi.TIOCGPTLCK:
		return done(put(t, arg, int32(b2u(m.IsLocked()))))
	case abi.TIOCSPTLCK:
		on, err := get[int32](t, arg)
		if err == nil {
			m.SetLock(on != 0)
		}
		return 0, err
	case abi.TIOCGPTPEER:
		f, err := vfs.OpenAt(start(t), fmt.Sprintf("/dev/pts/%d", m.Number), asInt(arg)&^abi.O_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		return install(t, f, arg&abi.O_CLOEXEC != 0)
	}
	return 0, sys.ENOTTY
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

func ioctlTerminal(t *proc.Thread, term *tty.TTY, master bool, request, addr uint64) (uint64, error) {
	switch request {
	case abi.TCGETS:
		return done(put(t, addr, term.Termios()))
	case abi.TCSETS, abi.TCSETSW, abi.TCSETSF:
		to, err := get[abi.Termios](t, addr)
		if err == nil {
			err = mayChange(t, term)
		}
		if err != nil {
			return 0, err
		}
		return done(term.SetTermios(to, request != abi.TCSETS, request == abi.TCSETSF))
	case abi.TCGETA, abi.TCSETA, abi.TCSETAW, abi.TCSETAF:
		return 0, ioctlTermio(t, term, request, addr)
	case abi.TIOCGLCKTRMIOS:
		return done(put(t, addr, abi.Termios{})) // no flag is locked
	case abi.TIOCGWINSZ:
		return done(put(t, addr, term.Winsize()))
	case abi.TIOCSWINSZ:
		to, err := get[abi.Winsize](t, addr)
		if err == nil {
			term.SetWinsize(to)
		}
		return 0, err
	case abi.TIOCGPGRP:
		if !master && t.Process().Terminal() != term {
			return 0, sys.ENOTTY
		}
		return done(put(t, addr, int32(term.Foreground())))
	case abi.TIOCSPGRP:
		return setForeground(t, term, addr)
	case abi.TIOCSCTTY:
		return done(takeTerminal(t, term))
	case abi.TIOCNOTTY:
		return done(t.Process().SetTerminal(nil))
	case abi.TIOCGSID:
		s := t.Process().Table().SessionOf(term)
		if !master && t.Process().Terminal() != term || s == 0 {
			return 0, sys.ENOTTY
		}
		return done(put(t, addr, int32(s)))
	case abi.TIOCOUTQ:
		return done(put(t, addr, int32(term.Unshown())))
	case abi.TCSBRK, abi.TCSBRKP: // all output is shown already, and there is no line to send a break on
		return done(mayChange(t, term))
	case abi.TCFLSH, abi.TCXONC:
		if err := mayChange(t, term); err != nil {
			return 0, err
		}
		return done(flow(term, request, addr))
	}
	return 0, sys.ENOTTY
}

// takeTerminal makes a terminal the controlling one of t's session, with t's group in the
// foreground.
//
// Errors: EPERM.
func takeTerminal(t *proc.Thread, term *tty.TTY) error {
	p := t.Process()
	had := p.Terminal() == term
	err := p.SetTerminal(term)
	if err == nil && !had {
		group, _ := p.Group()
		term.SetForeground(group)
	}
	return err
}

// flow discards queued bytes, or stops and restarts output.
//
// Errors: EINVAL.
func flow(term *tty.TTY, request, what uint64) error {
	switch {
	case request == abi.TCFLSH && what <= abi.TCIOFLUSH:
		if what != abi.TCOFLUSH {
			term.Flush()
		}
		if what != abi.TCIFLUSH {
			term.FlushOutput()
		}
	case request == abi.TCXONC && what <= abi.TCOON:
		term.Stop(what == abi.TCOOFF)
	case request == abi.TCXONC && what <= abi.TCION: // there is no sender to stop
	default:
		return sys.EINVAL
	}
	return nil
}

// setForeground lets a group of the caller's session read from the terminal.
func setForeground(t *proc.Thread, term *tty.TTY, addr uint64) (uint64, error) {
	group, err := get[int32](t, addr)
	switch {
	case err != nil:
		return 0, err
	case t.Process().Terminal() != term:
		return 0, sys.ENOTTY
	case group < 0:
		return 0, sys.EINVAL
	case !t.Process().HasGroup(int(group)):
		return 0, sys.EPERM
	}
	if err := mayChange(t, term); err != nil {
		return 0, err
	}
	term.SetForeground(int(group))
	return 0, nil
}
