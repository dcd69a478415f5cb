package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// Only the foreground group reads from its session's terminal and changes its settings; with TOSTOP
// only it writes. A background group is stopped by a signal, and its call is restarted when it
// continues.
//
// Source: POSIX.1-2017, "Terminal Access Control".

// fileToRead is fileOf for a call that reads.
//
// Errors: EINTR if the caller must stop first; EIO if it cannot.
func fileToRead(t *proc.Thread, fd uint64) (*vfs.File, error) {
	f, err := filesOf(t).Descriptors().Get(asInt(fd)) // fileOf, without its call
	if err != nil || f.Flags()&abi.O_PATH != 0 {
		return nil, sys.EBADF
	}
	if h, ok := f.Handle().(tty.Handle); ok && inBackground(t, h.TTY) {
		if refuses(t, abi.SIGTTIN) {
			return nil, sys.EIO
		}
		return f, stopGroup(t, abi.SIGTTIN)
	}
	return f, nil
}

// fileToWrite is fileOf for a call that writes.
//
// Errors: as fileToRead.
func fileToWrite(t *proc.Thread, fd uint64) (*vfs.File, error) {
	f, err := filesOf(t).Descriptors().Get(asInt(fd)) // as in fileToRead
	if err != nil || f.Flags()&abi.O_PATH != 0 {
		return nil, sys.EBADF
	}
	if h, ok := f.Handle().(tty.Handle); ok && h.Termios().Lflag&tty.TOSTOP != 0 {
		return f, mayChange(t, h.TTY)
	}
	return f, nil
}

// mayChange refuses a caller in the background, unless it ignores or blocks SIGTTOU.
//
// Errors: as fileToRead.
func mayChange(t *proc.Thread, term *tty.TTY) error {
	if !inBackground(t, term) || refuses(t, abi.SIGTTOU) {
		return nil
	}
	return stopGroup(t, abi.SIGTTOU)
}

// inBackground reports whether the terminal controls t's session and another group is in the
// foreground.
func inBackground(t *proc.Thread, term *tty.TTY) bool {
	p := t.Process()
	group, _ := p.Group()
	return p.Terminal() == term && term.Foreground() != group
}

// refuses reports whether t blocks or ignores a signal.
func refuses(t *proc.Thread, n int) bool {
	return t.Blocked()&signal.Of(n) != 0 || t.Process().Action(n, nil).Handler == abi.SIG_IGN
}

// stopGroup stops the group of t, if a process can continue it.
//
// Errors: EINTR, EIO.
func stopGroup(t *proc.Thread, n int) error {
	p := t.Process()
	if p.Orphaned() {
		return sys.EIO
	}
	group, _ := p.Group()
	p.Table().SendGroup(group, proc.SignalOf(n))
	return sys.EINTR
}

// openedTerminal applies the rules for opening a terminal: /dev/tty is the one that controls t's
// session, and a session without one gets the terminal that its leader opens.
//
// Errors: ENXIO, and those of opening it; f is closed then.
func openedTerminal(t *proc.Thread, f *vfs.File, flags int) (*vfs.File, error) {
	h, ok := f.Handle().(tty.Handle)
	if !ok {
		return f, nil
	}
	if _, ok := f.Node().(tty.Current); ok {
		defer vfs.Close(f)
		own, ok := t.Process().Terminal().(*tty.TTY)
		if !ok {
			return nil, sys.ENXIO
		}
		opened, err := (&tty.Device{TTY: own}).Open(flags)
		if err != nil {
			return nil, err
		}
		return vfs.NewFile(f.Name(), f.Node(), opened, f.Flags()), nil
	}
	if flags&abi.O_NOCTTY == 0 && h.IsSlave() && t.Process().Terminal() == nil {
		takeTerminal(t, h.TTY) // fails silently for a process that does not lead its session
	}
	return f, nil
}
