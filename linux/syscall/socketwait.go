package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// socketWaiter waits for a socket within the limits of its flags, the call's flags and the timeout
// of an option.
type socketWaiter struct {
	t     *proc.Thread
	never bool
	late  time.Time // zero: never
}

func waiterOf(t *proc.Thread, f *vfs.File, flags int, limit time.Duration) socketWaiter {
	w := socketWaiter{t: t, never: f.Flags()&vfs.O_NONBLOCK != 0 || flags&abi.MSG_DONTWAIT != 0}
	if limit > 0 {
		w.late = time.Now().Add(limit)
	}
	return w
}

// wait waits for an event of src.
//
// Errors: EAGAIN if the caller must not wait, or the timeout is over; EINTR.
func (w *socketWaiter) wait(src poll.Source, ev poll.Events) error {
	switch {
	case w.never:
		return sys.EAGAIN
	case w.late.IsZero():
		return poll.Until(src, ev, w.t.Cancel())
	}
	left := time.Until(w.late)
	if left <= 0 {
		return sys.EAGAIN
	}
	_, err := poll.Many([]poll.Want{{Source: src, Events: ev}}, left, w.t.Cancel())
	return err
}
