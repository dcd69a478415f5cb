package proc

import (
	"syscall"

	"sonde/kernel/abi"
)

// Change is what wait has found out about a child.
type Change struct {
	PID    int    // 0: WNOHANG, and there was nothing
	Code   int32  // CLD_EXITED and its like
	Status Status // for wait4
	Usage  Usage  // of the child and of those it waited for
}

// Value is the exit code or the signal, for waitid.
func (c Change) Value() int32 {
	switch c.Code {
	case abi.CLD_EXITED:
		return int32(c.Status.Code())
	case abi.CLD_STOPPED:
		return int32(c.Status >> 8)
	case abi.CLD_CONTINUED:
		return abi.SIGCONT
	}
	return int32(c.Status.Signal())
}

// Which says which children to wait for: Kind is P_ALL, P_PID, P_PGID or P_PIDFD, which
// uses a Process instead of an ID.
type Which struct {
	Kind, ID int
	Process  *Process
}

// Wait waits until a child of p has ended (WEXITED), stopped (WSTOPPED) or continued
// (WCONTINUED). A child that has ended is forgotten, unless WNOWAIT is set.
//
// Errors: ECHILD there is no such child; EINTR after a token in cancel.
func (p *Process) Wait(which Which, options int, cancel func() <-chan struct{}) (Change, error) {
	for {
		c, news, err := p.look(which, options)
		if err != nil || c.PID != 0 || options&abi.WNOHANG != 0 {
			return c, err
		}
		select {
		case <-news:
		case <-cancel():
			return Change{}, syscall.EINTR
		}
	}
}

// look checks once.
func (p *Process) look(which Which, options int) (Change, <-chan struct{}, error) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	found := false
	for _, c := range p.children {
		if !which.fits(p, c) || !kindFits(c, options) {
			continue
		}
		found = true
		if change, ok := c.change(options); ok {
			return change, nil, nil
		}
	}
	if !found {
		return Change{}, nil, syscall.ECHILD
	}
	return Change{}, p.news.wait(), nil
}

func (w Which) fits(p, c *Process) bool {
	switch w.Kind {
	case abi.P_PID:
		return c.PID == w.ID
	case abi.P_PIDFD:
		return c == w.Process
	case abi.P_PGID:
		return c.group != nil && (c.group.ID == w.ID || w.ID == 0 && c.group == p.group)
	}
	return true
}

// kindFits distinguishes children that clone made with another signal than SIGCHLD.
func kindFits(c *Process, options int) bool {
	return options&abi.WALL != 0 || (c.exitSignal != abi.SIGCHLD) == (options&abi.WCLONE != 0)
}

// change returns what there is to report about c; each change is reported once. mu held.
func (c *Process) change(options int) (Change, bool) {
	keep := options&abi.WNOWAIT != 0
	usage := c.used()
	usage.add(c.reaped)
	switch {
	case c.state == zombie && options&abi.WEXITED != 0:
		if !keep {
			c.forget()
		}
		return Change{c.PID, c.status.how(), c.status, usage}, true
	case c.stopNews && !c.stopTold && options&abi.WSTOPPED != 0:
		c.stopTold = !keep
		return Change{c.PID, abi.CLD_STOPPED, stoppedBy(c.stopped), usage}, true
	case c.contNews && options&abi.WCONTINUED != 0:
		c.contNews = keep
		return Change{c.PID, abi.CLD_CONTINUED, continuedStatus, usage}, true
	}
	return Change{}, false
}
