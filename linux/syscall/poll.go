package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

const forever = time.Duration(-1)

func pollCall(t *proc.Thread, a *Args) (uint64, error) {
	limit := forever
	if ms := asInt(a[2]); ms >= 0 {
		limit = remaining(t, time.Duration(ms)*time.Millisecond)
	}
	return pollFiles(t, a[0], a[1], limit)
}

func ppoll(t *proc.Thread, a *Args) (uint64, error) {
	limit, err := limitAt(t, a[2])
	if err != nil {
		return 0, err
	}
	if err := maskFor(t, a[3], a[4]); err != nil {
		return 0, err
	}
	return withLeft(t, a[2], limit, abi.TimespecOf, func() (uint64, error) { return pollFiles(t, a[0], a[1], limit) })
}

// withLeft makes a call that waits, and stores its remaining time, without the slack. If that
// cannot be stored, the call's result stands, as in Linux.
func withLeft[T any](t *proc.Thread, addr uint64, limit time.Duration, as func(time.Duration) T, call func() (uint64, error)) (uint64, error) {
	if addr == 0 {
		return call()
	}
	end := time.Now().Add(limit).Add(-t.Slack())
	v, err := call()
	if !persona(t, stickyTimeouts) {
		put(t, addr, as(max(time.Until(end), 0)))
	}
	return v, err
}

// remaining is the time, slack included, that is left of a call with the timeout d: a signal may
// have interrupted the call before.
func remaining(t *proc.Thread, d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return max(time.Until(t.Later(t.Deadline(d))), 0)
}

// limitAt decodes a timeout, slack included; without an address, it is infinite.
func limitAt(t *proc.Thread, addr uint64) (time.Duration, error) {
	ts, ok, err := timeIf(t, addr)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return forever, nil
	}
	return remaining(t, ts.Duration()), nil
}

// maskFor changes the signal mask during the call.
func maskFor(t *proc.Thread, addr, size uint64) error {
	set, ok, err := getIf[signal.Set](t, addr)
	if err != nil || !ok {
		return err
	}
	if size != setSize {
		return sys.EINVAL
	}
	t.BlockUntilDelivered(set)
	return nil
}

func pollFiles(t *proc.Thread, addr, n uint64, limit time.Duration) (uint64, error) {
	if n > uint64(maxFiles(t)) {
		return 0, sys.EINVAL
	}
	fds, err := getSlice[abi.PollFD](t, addr, int(n))
	if err != nil {
		return 0, err
	}
	wants := make([]poll.Want, n)
	bad := 0
	for i, p := range fds {
		if p.FD < 0 {
			continue
		}
		f, err := fileOf(t, uint64(p.FD))
		if err != nil {
			wants[i].Got = poll.Nval
			bad++
			continue
		}
		wants[i] = poll.Want{Source: sourceOf(t, f), Events: poll.Events(uint16(p.Events))}
	}
	if bad > 0 {
		limit = 0
	}
	got, err := poll.Many(wants, limit, t.Cancel())
	if err != nil && bad == 0 {
		return 0, err
	}
	for i := range fds {
		fds[i].Revents = int16(wants[i].Got)
		if err := put(t, addr+uint64(i*8), fds[i]); err != nil {
			return 0, err
		}
	}
	return uint64(got + bad), nil
}

// fdSet is fd_set: 1024 bits.
type fdSet [16]uint64

func selectCall(t *proc.Thread, a *Args) (uint64, error) {
	tv, ok, err := getIf[abi.Timeval](t, a[4])
	if err != nil {
		return 0, err
	}
	limit := forever
	if ok {
		if !tv.Valid() {
			return 0, sys.EINVAL
		}
		limit = remaining(t, tv.Duration())
	}
	return withLeft(t, a[4], limit, abi.TimevalOf, func() (uint64, error) { return selectFiles(t, a, limit) })
}

func pselect6(t *proc.Thread, a *Args) (uint64, error) {
	limit, err := limitAt(t, a[4])
	if err != nil {
		return 0, err
	}
	mask, ok, err := getIf[[2]uint64](t, a[5])
	if err != nil {
		return 0, err
	}
	if ok {
		if err := maskFor(t, mask[0], mask[1]); err != nil {
			return 0, err
		}
	}
	return withLeft(t, a[4], limit, abi.TimespecOf, func() (uint64, error) { return selectFiles(t, a, limit) })
}

// For each of select's three sets: the events to ask for, and the events that put a bit into it.
var selectSets = [3]struct{ want, got poll.Events }{
	{poll.In, poll.In | poll.Hup | poll.Err},
	{poll.Out, poll.Out | poll.Err},
	{poll.Pri, poll.Pri},
}

func selectFiles(t *proc.Thread, a *Args, limit time.Duration) (uint64, error) {
	n := asInt(a[0])
	if n < 0 || n > 1024 {
		return 0, sys.EINVAL
	}
	sets, err := setsAt(t, a, n)
	if err != nil {
		return 0, err
	}
	var wants []poll.Want
	var fds []int
	for fd := range n {
		w := poll.Want{}
		for i := range sets {
			if sets[i][fd/64]>>(fd%64)&1 != 0 {
				w.Events |= selectSets[i].want
			}
		}
		if w.Events == 0 {
			continue
		}
		f, err := fileOf(t, uint64(fd))
		if err != nil {
			return 0, err
		}
		w.Source = sourceOf(t, f)
		wants, fds = append(wants, w), append(fds, fd)
	}
	if _, err := poll.Many(wants, limit, t.Cancel()); err != nil {
		return 0, err
	}
	return putSets(t, a, sets, wants, fds, n)
}

// setsAt copies the sets, in the length for n descriptors.
func setsAt(t *proc.Thread, a *Args, n int) (sets [3]fdSet, err error) {
	for i := range sets {
		if a[1+i] != 0 {
			if err := t.Memory().In(abi.Bytes(&sets[i])[:(n+63)/64*8], a[1+i]); err != nil {
				return sets, err
			}
		}
	}
	return sets, nil
}

// putSets stores the ready descriptors, and returns the number of bits.
func putSets(t *proc.Thread, a *Args, asked [3]fdSet, wants []poll.Want, fds []int, n int) (bits uint64, err error) {
	var sets [3]fdSet
	for j, fd := range fds {
		for i := range sets {
			if bit := uint64(1) << (fd % 64); asked[i][fd/64]&bit != 0 && wants[j].Got&selectSets[i].got != 0 {
				sets[i][fd/64] |= bit
				bits++
			}
		}
	}
	for i := range sets {
		if a[1+i] != 0 {
			if err := t.Memory().Out(a[1+i], abi.Bytes(&sets[i])[:(n+63)/64*8]); err != nil {
				return 0, err
			}
		}
	}
	return bits, nil
}
