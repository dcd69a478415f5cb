package syscall

import (
	"math"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// fileOwner is the owner that gets signals about an open file. It implements vfs.Owner.
type fileOwner struct {
	as   abi.FOwnerEx // as it was set
	send func(abi.Siginfo) error
}

// ownerOf returns the owner that a number means.
//
// Errors: EINVAL, ESRCH.
func ownerOf(t *proc.Thread, as abi.FOwnerEx) (vfs.Owner, error) {
	table, id := t.Process().Table(), int(as.PID)
	switch {
	case as.Type < abi.F_OWNER_TID || as.Type > abi.F_OWNER_PGRP:
		return nil, sys.EINVAL
	case id == 0:
		return nil, nil
	case id < 0:
		return nil, sys.ESRCH
	}
	o := fileOwner{as: as}
	switch as.Type {
	case abi.F_OWNER_TID:
		to, err := table.FindThread(0, id)
		if err != nil {
			return nil, err
		}
		o.send = func(i abi.Siginfo) error {
			if now, err := table.FindThread(0, id); err != nil || now != to {
				return sys.ESRCH
			}
			return to.Send(i)
		}
	case abi.F_OWNER_PID:
		to, err := table.Find(id)
		if err != nil {
			return nil, err
		}
		o.send = to.Send
	case abi.F_OWNER_PGRP:
		o.send = func(i abi.Siginfo) error { return table.SendGroup(id, i) }
	}
	return o, o.send(abi.Siginfo{})
}

// ownSelf is t's process as an owner.
func ownSelf(t *proc.Thread) vfs.Owner {
	p := t.Process()
	return fileOwner{abi.FOwnerEx{Type: abi.F_OWNER_PID, PID: int32(p.PID)}, p.Send}
}

// reasons are the si_code values for events.
var reasons = [...]struct {
	ev   poll.Events
	code int32
	band int64
}{
	{poll.Msg, abi.POLL_MSG, abi.POLLIN | abi.POLLRDNORM | int64(poll.Msg)},
	{poll.In, abi.POLL_IN, abi.POLLIN | abi.POLLRDNORM},
	{poll.Out, abi.POLL_OUT, abi.POLLOUT | abi.POLLWRNORM | abi.POLLWRBAND},
	{poll.Pri, abi.POLL_PRI, abi.POLLPRI | abi.POLLRDBAND},
	{poll.Hup, abi.POLL_HUP, abi.POLLHUP | abi.POLLERR},
	{poll.Err, abi.POLL_ERR, abi.POLLERR},
}

// Tell implements vfs.Owner. If the chosen signal cannot be queued it sends SIGIO, which then
// means: look at all files.
//
// Source: Linux, fcntl(2), F_SETSIG.
func (o fileOwner) Tell(fd, n int, ev poll.Events) {
	if n != 0 && o.send(pollSignal(fd, n, ev)) == nil {
		return
	}
	o.send(proc.SignalOf(abi.SIGIO)) // an owner that has ended need not be told
}

func pollSignal(fd, n int, ev poll.Events) abi.Siginfo {
	info := abi.Siginfo{Signo: int32(n)}
	for _, r := range reasons {
		if ev&r.ev != 0 {
			info.Code = r.code
			info.SetPoll(r.band, int32(fd))
			break
		}
	}
	return info
}

// getOwner returns the owner of f if it still exists.
func getOwner(f *vfs.File) (as abi.FOwnerEx) {
	o, _ := f.Owner()
	if own, ok := o.(fileOwner); ok {
		as.Type = own.as.Type
		if own.send(abi.Siginfo{}) == nil {
			as = own.as
		}
	}
	return as
}

// getOwn is F_GETOWN: the number of a group is negative.
func getOwn(f *vfs.File) int64 {
	if as := getOwner(f); as.Type == abi.F_OWNER_PGRP {
		return -int64(as.PID)
	} else {
		return int64(as.PID)
	}
}

// setOwn is F_SETOWN.
//
// Errors: EINVAL, ESRCH.
func setOwn(t *proc.Thread, f *vfs.File, id int) error {
	as := abi.FOwnerEx{Type: abi.F_OWNER_PID, PID: int32(id)}
	if id == math.MinInt32 {
		return sys.EINVAL
	}
	if id < 0 {
		as = abi.FOwnerEx{Type: abi.F_OWNER_PGRP, PID: int32(-id)}
	}
	return setOwner(t, f, as)
}

func setOwner(t *proc.Thread, f *vfs.File, as abi.FOwnerEx) error {
	o, err := ownerOf(t, as)
	if err == nil {
		f.SetOwner(o)
	}
	return err
}

// ownership implements the commands of fcntl about a file's owner and its signal.
func ownership(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	switch a[1] {
	case abi.F_GETOWN:
		return uint64(getOwn(f)), nil
	case abi.F_SETOWN:
		return 0, setOwn(t, f, asInt(a[2]))
	case abi.F_GETOWN_EX:
		return 0, put(t, a[2], getOwner(f))
	case abi.F_SETOWN_EX:
		as, err := get[abi.FOwnerEx](t, a[2])
		if err != nil {
			return 0, err
		}
		return 0, setOwner(t, f, as)
	case abi.F_GETSIG:
		_, n := f.Owner()
		return uint64(n), nil
	}
	n := asInt(a[2])
	if n != 0 && !signal.Valid(n) {
		return 0, sys.EINVAL
	}
	f.SetSignal(n)
	return 0, nil
}
