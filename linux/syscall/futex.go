package syscall

import (
	"cmp"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
)

func futex(t *proc.Thread, a *Args) (uint64, error) {
	op := asInt(a[1])
	do := op &^ (abi.FUTEX_PRIVATE_FLAG | abi.FUTEX_CLOCK_REALTIME)
	if op&abi.FUTEX_CLOCK_REALTIME != 0 && do != abi.FUTEX_WAIT && do != abi.FUTEX_WAIT_BITSET {
		return 0, sys.ENOSYS
	}
	key, err := futexKey(t, a[0], op)
	if err != nil {
		return 0, err
	}
	queues := t.Process().Table().Futexes()
	switch do {
	case abi.FUTEX_WAIT:
		return futexWait(t, key, a, abi.FUTEX_BITSET_ALL, false)
	case abi.FUTEX_WAIT_BITSET:
		return futexWait(t, key, a, uint32(a[5]), true)
	case abi.FUTEX_WAKE:
		return uint64(queues.Wake(key, count(a[2]), abi.FUTEX_BITSET_ALL)), nil
	case abi.FUTEX_WAKE_BITSET:
		if uint32(a[5]) == 0 {
			return 0, sys.EINVAL
		}
		return uint64(queues.Wake(key, count(a[2]), uint32(a[5]))), nil
	case abi.FUTEX_REQUEUE:
		return futexRequeue(t, key, a, func() error { return nil })
	case abi.FUTEX_CMP_REQUEUE:
		return futexRequeue(t, key, a, func() error { return wordIs(t, a[0], uint32(a[5])) })
	case abi.FUTEX_WAKE_OP:
		return futexWakeOp(t, key, a)
	}
	return 0, sys.ENOSYS
}

// futexKey returns the key of a word. With FUTEX_PRIVATE_FLAG it is made from the address, and
// nothing need be mapped there; without it, the memory must be mapped and writable by someone.
//
// Errors: EINVAL, EFAULT.
func futexKey(t *proc.Thread, addr uint64, op int) (space.Key, error) {
	switch {
	case addr&3 != 0:
		return space.Key{}, sys.EINVAL
	case !isUser(addr, 4):
		return space.Key{}, sys.EFAULT
	case op&abi.FUTEX_PRIVATE_FLAG != 0:
		return t.Memory().Key(addr), nil
	}
	if _, err := t.Memory().Load32(addr); err != nil {
		return space.Key{}, err
	}
	if !t.Memory().MayChange(addr) {
		return space.Key{}, sys.EFAULT
	}
	return t.Memory().Key(addr), nil
}

// count is how many waiters to wake: at least one, as in Linux for WAKE.
func count(v uint64) int { return max(asInt(v), 1) }

// wordIs fails with EAGAIN unless a word has that value.
func wordIs(t *proc.Thread, addr uint64, want uint32) error {
	v, err := t.Memory().Load32(addr)
	if err == nil && v != want {
		err = sys.EAGAIN
	}
	return err
}

// futexWait waits. absolute says that the time is a point in time, not a duration.
func futexWait(t *proc.Thread, key space.Key, a *Args, bits uint32, absolute bool) (uint64, error) {
	if bits == 0 {
		return 0, sys.EINVAL
	}
	limit, ok, err := timeIf(t, a[3])
	if err != nil {
		return 0, err
	}
	var end time.Time
	if ok {
		end = t.Later(futexEnd(t, limit, asInt(a[1]), absolute))
	}
	look := func() error { return wordIs(t, a[0], uint32(a[2])) }
	return done(t.Process().Table().Futexes().Wait(key, bits, look, end, t.Cancel()))
}

// futexEnd is the end of a wait.
func futexEnd(t *proc.Thread, limit abi.Timespec, op int, absolute bool) time.Time {
	switch {
	case !absolute:
		return t.Deadline(limit.Duration())
	case op&abi.FUTEX_CLOCK_REALTIME != 0:
		return time.Unix(limit.Sec, limit.Nsec)
	}
	return time.Now().Add(limit.Duration() - Uptime())
}

func futexRequeue(t *proc.Thread, from space.Key, a *Args, look func() error) (uint64, error) {
	if asInt(a[2]) < 0 || asInt(a[3]) < 0 {
		return 0, sys.EINVAL
	}
	to, err := futexKey(t, a[4], asInt(a[1]))
	if err != nil {
		return 0, err
	}
	woken, moved, err := t.Process().Table().Futexes().Requeue(from, to, asInt(a[2]), asInt(a[3]), look)
	if asInt(a[1])&^(abi.FUTEX_PRIVATE_FLAG) == abi.FUTEX_REQUEUE {
		return uint64(woken), err
	}
	return uint64(woken + moved), err
}

func futexWakeOp(t *proc.Thread, key space.Key, a *Args) (uint64, error) {
	second, err := futexKey(t, a[4], asInt(a[1]))
	if err != nil {
		return 0, err
	}
	n, err := t.Process().Table().Futexes().Both(key, second, count(a[2]), count(a[3]), func() (bool, error) {
		return changeWord(t, a[4], uint32(a[5]))
	})
	return uint64(n), err
}

// changeWord changes a word as FUTEX_WAKE_OP's last argument says, and reports whether its
// comparison is true for the old value.
//
// Source: futex(2), "FUTEX_WAKE_OP".
func changeWord(t *proc.Thread, addr uint64, code uint32) (bool, error) {
	op, test := code>>28&7, code>>24&15
	arg, cmpArg := uint32(int32(code<<8)>>20), int32(code<<20)>>20
	if code>>31 != 0 {
		arg = 1 << (arg & 31)
	}
	for {
		old, err := t.Memory().Load32(addr)
		if err != nil {
			return false, err
		}
		values := [...]uint32{arg, old + arg, old | arg, old &^ arg, old ^ arg}
		order := cmp.Compare(int32(old), cmpArg)
		truths := [...]bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}
		if op >= uint32(len(values)) || test >= uint32(len(truths)) {
			return false, sys.ENOSYS
		}
		swapped, err := t.Memory().CompareAndSwap32(addr, old, values[op])
		if err != nil {
			return false, err
		}
		if swapped {
			return truths[test], nil
		}
	}
}
