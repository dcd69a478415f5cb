package syscall

import (
	"encoding/binary"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/event"
	"sonde/linux/proc"
)

// Source: Linux, uapi/linux/eventfd.h, uapi/linux/eventpoll.h.
const (
	efdSemaphore = 1
	eventSize    = 12   // struct epoll_event is packed
	someEvents   = 1024 // most events that one wait returns, unless the set has more files
)

func eventfd2(t *proc.Thread, a *Args) (uint64, error) {
	flags := asInt(a[1])
	if flags&^(abi.O_CLOEXEC|abi.O_NONBLOCK|efdSemaphore) != 0 {
		return 0, sys.EINVAL
	}
	f := event.NewEventfd(uint64(uint32(a[0])), flags&efdSemaphore != 0, flags&abi.O_NONBLOCK)
	return install(t, f, flags&abi.O_CLOEXEC != 0)
}

func epollCreate(t *proc.Thread, a *Args) (uint64, error) {
	if asInt(a[0]) <= 0 {
		return 0, sys.EINVAL
	}
	return install(t, event.NewEpoll(), false)
}

func epollCreate1(t *proc.Thread, a *Args) (uint64, error) {
	flags := asInt(a[0])
	if flags&^abi.O_CLOEXEC != 0 {
		return 0, sys.EINVAL
	}
	return install(t, event.NewEpoll(), flags&abi.O_CLOEXEC != 0)
}

func epollCtl(t *proc.Thread, a *Args) (uint64, error) {
	e, badSet := fileAs[*event.Epoll](t, a[0])
	f, err := fileOf(t, a[2])
	if errnoIs(badSet, sys.EBADF) || err == nil && badSet != nil {
		err = badSet
	}
	switch {
	case err != nil:
		return 0, err
	case f.Handle() == vfs.Handle(e):
		return 0, sys.EINVAL // a set in itself
	}
	fd := asInt(a[2])
	if asInt(a[1]) == abi.EPOLL_CTL_DEL {
		return done(e.Delete(fd, f))
	}
	raw, err := get[[eventSize]byte](t, a[3])
	if err != nil {
		return 0, err
	}
	events, data := binary.LittleEndian.Uint32(raw[:]), binary.LittleEndian.Uint64(raw[4:])
	switch asInt(a[1]) {
	case abi.EPOLL_CTL_ADD:
		return done(e.AddSource(fd, f, sourceOf(t, f), events, data))
	case abi.EPOLL_CTL_MOD:
		return done(e.Modify(fd, f, events, data))
	}
	return 0, sys.EINVAL
}

func epollWait(t *proc.Thread, a *Args) (uint64, error) {
	limit := forever
	if ms := asInt(a[3]); ms >= 0 {
		limit = t.Longer(time.Duration(ms) * time.Millisecond)
	}
	return waitForEvents(t, a, limit)
}

func epollPwait(t *proc.Thread, a *Args) (uint64, error) {
	if err := maskFor(t, a[4], a[5]); err != nil {
		return 0, err
	}
	return epollWait(t, a)
}

func epollPwait2(t *proc.Thread, a *Args) (uint64, error) {
	limit, err := limitAt(t, a[3])
	if err != nil {
		return 0, err
	}
	if err := maskFor(t, a[4], a[5]); err != nil {
		return 0, err
	}
	return waitForEvents(t, a, limit)
}

func waitForEvents(t *proc.Thread, a *Args, limit time.Duration) (uint64, error) {
	e, err := fileAs[*event.Epoll](t, a[0])
	if err != nil {
		return 0, err
	}
	most := asInt(a[2])
	if most <= 0 {
		return 0, sys.EINVAL
	}
	var few [16]event.Event
	list := few[:]
	if most > len(few) {
		list = make([]event.Event, min(most, max(someEvents, e.Len())))
	}
	n, err := e.Wait(list[:min(most, len(list))], limit, t.Cancel())
	if err != nil || n == 0 {
		return 0, err
	}
	raw := make([]byte, 0, n*eventSize)
	for _, ev := range list[:n] {
		raw = binary.LittleEndian.AppendUint32(raw, ev.Events)
		raw = binary.LittleEndian.AppendUint64(raw, ev.Data)
	}
	return uint64(n), t.Memory().Out(a[1], raw)
}
