package runtime

// The system calls of the shim: see sonde_shim.go. Everything the runtime and
// the standard library can do without is ENOSYS.

import (
	"internal/runtime/syscall/linux"
	machine "runtime/goos"
	"unsafe"
)

// Linux system call numbers (arch/x86/entry/syscalls of any version).
const (
	sysRead             = 0
	sysWrite            = 1
	sysMmapNr           = 9
	sysMunmapNr         = 11
	sysRtSigaction      = 13
	sysRtSigprocmask    = 14
	sysSchedYield       = 24
	sysMadviseNr        = 28
	sysNanosleep        = 35
	sysSetitimer        = 38
	sysGetpid           = 39
	sysClone            = 56
	sysExit             = 60
	sysKill             = 62
	sysFcntl            = 72
	sysUmask            = 95
	sysGettimeofday     = 96
	sysGetuid           = 102
	sysGetgid           = 104
	sysGeteuid          = 107
	sysGetegid          = 108
	sysGetppid          = 110
	sysGetpgid          = 121
	sysSigaltstack      = 131
	sysArchPrctl        = 158
	sysGettid           = 186
	sysFutex            = 202
	sysSchedGetaffinity = 204
	sysClockGettime     = 228
	sysExitGroup        = 231
	sysEpollCtl         = 233
	sysTgkill           = 234
	sysOpenat           = 257
	sysEventfd2         = 290
	sysEpollCreate1     = 291
	sysGetrandom        = 318
	sysEpollPwait2      = 441
)

const (
	madvDontNeed  = 4
	clockRealtime = 0
	cloneThread   = 0x10000
)

const (
	sondeEventFd = 3 // the runtime's netpollBreak
	sondeEpollFd = 4
)

// sondeEvent is the one eventfd and the one epoll the runtime makes: enough for
// netpoll to sleep until a timer is due or it is told to look again.
// guarded by sondeLock
var sondeEvent struct {
	count uint64
	data  uint64 // of the eventfd's epoll_ctl
}

// sondeDispatch serves the system call of t and returns the thread to resume,
// t or another. It runs on the shim stack with interrupts off.
//
//go:nosplit
//go:nowritebarrierrec
func sondeDispatch(t *sondeThread) *sondeThread {
	c := sondeCPUSelf()
	sondeAcquire()
	if sondeWaits(t) && t.flags&sondeIF == 0 {
		t.ax = 0 // a caller with interrupts off, as in a trap: it may only spin
		sondeRelease()
		return t
	}
	switch t.ax {
	case sysFutex:
		sondeDoFutex(c, t)
	case sysNanosleep:
		ts := (*timespec)(unsafe.Pointer(t.di))
		t.ax = 0
		sondeSleep(c, t, 0, ts.tv_sec*1e9+ts.tv_nsec)
	case sysSchedYield:
		t.ax = 0
		sondeYieldThread(c, t)
	case sysEpollPwait2:
		sondeDoEpollWait(c, t)
	case sysWrite:
		t.ax = sondeDoWrite(t.di, t.si, t.dx)
	case sysClone:
		t.ax = sondeDoClone(t)
	case sysExit:
		sondeFreeThread(t)
	case sysMmapNr:
		t.ax = sondeMmap(t.di, t.si, t.dx, t.r10)
	case sysMunmapNr:
		t.ax = sondeMunmap(t.di, t.si)
	default:
		t.ax = sondeMisc(t)
	}
	if t.state != sondeRunning {
		if mp := (*m)(unsafe.Pointer(t.mp)); mp != nil && mp.curg != nil {
			sondeOff(mp.curg)
		}
		return sondePick(c)
	}
	sondeRelease()
	return t
}

// sondeIF is the flag of interrupts.
const sondeIF = 1 << 9

// The futex operations of the runtime.
const (
	sondeFutexWaits, sondeFutexWakes = 0, 1
	sondeFutexOp                     = 0x7f
)

// sondeWaits reports whether the system call of t may give up the CPU.
//
//go:nosplit
func sondeWaits(t *sondeThread) bool {
	return t.ax == sysFutex && t.si&sondeFutexOp == sondeFutexWaits || t.ax == sysNanosleep || t.ax == sysSchedYield
}

// sondeMisc serves what neither blocks nor touches the scheduler.
//
//go:nosplit
func sondeMisc(t *sondeThread) uintptr {
	switch t.ax {
	case sysMadviseNr:
		// Memory once given is kept, but it must read as Linux would have it:
		// the runtime counts on zeros after MADV_DONTNEED.
		if t.dx == madvDontNeed {
			sondeZero(t.di, t.si)
		}
		return 0
	case sysRtSigaction, sysRtSigprocmask, sysSetitimer, sysTgkill, sysKill:
		return 0 // there are no signals
	case sysSigaltstack:
		if t.si != 0 {
			(*stackt)(unsafe.Pointer(t.si)).ss_flags = _SS_DISABLE
		}
		return 0
	case sysArchPrctl: // ARCH_SET_FS
		t.fs = t.si
		sondeWrfsbase(t.fs)
		return 0
	case sysGettid:
		return uintptr(t.id)
	case sysGetpid, sysGetpgid:
		return 1
	case sysGetppid, sysGetuid, sysGeteuid, sysGetgid, sysGetegid, sysUmask:
		return 0 // these cannot fail
	case sysGettimeofday:
		ts := (*timespec)(unsafe.Pointer(t.di))
		sondeClockGettime(clockRealtime, ts)
		ts.tv_nsec /= 1000 // a timeval
		return 0
	case sysFcntl:
		if t.di > 2 {
			return sondeErr(_EBADF)
		}
		return 2 // F_GETFL: O_RDWR; F_GETFD: open
	case sysRead:
		if t.di == sondeEventFd {
			sondeEvent.count = 0
			return 8
		}
		return 0 // end of file: the console is a device of the kernel's
	case sysOpenat:
		return sondeErr(_ENOENT)
	case sysClockGettime:
		sondeClockGettime(t.di, (*timespec)(unsafe.Pointer(t.si)))
		return 0
	case sysSchedGetaffinity:
		mask := uint64(1)<<machine.CPUs - 1
		*(*uint64)(unsafe.Pointer(t.dx)) = mask
		return 8
	case sysEpollCreate1:
		return sondeEpollFd
	case sysEventfd2:
		return sondeEventFd
	case sysEpollCtl:
		sondeEvent.data = *(*uint64)(unsafe.Pointer(t.r10 + 4))
		return 0
	case sysGetrandom:
		machine.Random(unsafe.Slice((*byte)(unsafe.Pointer(t.di)), t.si))
		return t.si
	case sysExitGroup:
		sondeRelease()
		machine.Exit(int32(t.di))
	}
	return sondeErr(_ENOSYS)
}

// Linux errnos that the runtime does not name itself.
const (
	_ENOENT    = 2
	_EBADF     = 9
	_ETIMEDOUT = 110
)

//go:nosplit
func sondeErr(errno int) uintptr { return uintptr(-errno) }

//go:nosplit
func sondeDoFutex(c *sondeCPU, t *sondeThread) {
	switch t.si & sondeFutexOp {
	case sondeFutexWaits:
		if *(*uint32)(unsafe.Pointer(t.di)) != uint32(t.dx) {
			t.ax = sondeErr(_EAGAIN)
			return
		}
		sondeSleep(c, t, t.di, sondeLimit(t.r10))
	case sondeFutexWakes:
		t.ax = sondeFutexWake(t.di, t.dx)
	default:
		t.ax = sondeErr(_ENOSYS)
	}
}

//go:nosplit
func sondeFutexWake(addr, max uintptr) (n uintptr) {
	for n < max {
		w := sondeSleeperOn(addr)
		if w == nil {
			break
		}
		sondeReady(w, 0)
		n++
	}
	return n
}

//go:nosplit
func sondeDoEpollWait(c *sondeCPU, t *sondeThread) {
	if sondeEvent.count != 0 {
		sondeEpollFill(t)
		t.ax = 1
		return
	}
	d := sondeLimit(t.r10)
	if d == 0 {
		t.ax = 0
		return
	}
	sondeSleep(c, t, sondeEventKey(), d)
}

// sondeLimit is how many nanoseconds a call may wait whose timespec is at addr; without one, -1.
//
//go:nosplit
func sondeLimit(addr uintptr) int64 {
	ts := (*timespec)(unsafe.Pointer(addr))
	if ts == nil {
		return -1
	}
	return ts.tv_sec*1e9 + ts.tv_nsec
}

// sondeEpollWait is netpoll's epoll_wait. It waits for delay nanoseconds, for ever if that is
// negative.
func sondeEpollWait(events []linux.EpollEvent, delay int64) (n int32, errno uintptr) {
	var limit *timespec
	if delay >= 0 {
		limit = &timespec{tv_sec: delay / 1e9, tv_nsec: delay % 1e9}
	}
	r, _, e := linux.Syscall6(sysEpollPwait2, sondeEpollFd, uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	return int32(r), e
}

// sondeEventKey is what a thread in epoll_wait sleeps on.
//
//go:nosplit
func sondeEventKey() uintptr { return uintptr(unsafe.Pointer(&sondeEvent)) }

// sondeEpollFill stores the eventfd's readiness as t's one epoll event:
// struct epoll_event is {u32 events; u64 data} packed.
//
//go:nosplit
func sondeEpollFill(t *sondeThread) {
	*(*uint32)(unsafe.Pointer(t.si)) = 1 // EPOLLIN
	*(*uint64)(unsafe.Pointer(t.si + 4)) = sondeEvent.data
}

//go:nosplit
func sondeDoWrite(fd, p, n uintptr) uintptr {
	switch fd {
	case 1, 2:
		for i := uintptr(0); i < n; i++ {
			machine.Printk(*(*byte)(unsafe.Pointer(p + i)))
		}
		return n
	case sondeEventFd:
		sondeEvent.count++
		for w := sondeSleeperOn(sondeEventKey()); w != nil; w = sondeSleeperOn(sondeEventKey()) {
			sondeEpollFill(w)
			sondeReady(w, 1)
		}
		return n
	}
	return sondeErr(_EBADF)
}

// sondeDoClone starts a thread that returns 0 from the same call, with the
// registers of its parent. runtime.clone passes the m in R13, TLS in R8.
//
//go:nosplit
func sondeDoClone(t *sondeThread) uintptr {
	if t.di&cloneThread == 0 {
		return sondeErr(_ENOSYS) // there are no processes
	}
	n := sondeNewThread()
	if n == nil {
		return sondeErr(_EAGAIN)
	}
	id := n.id
	*n = *t
	n.id, n.fs, n.mp, n.cpus = id, t.r8, t.r13, 0
	sondeReady(n, 0)
	return uintptr(id)
}

// sondeClockGettime is also the runtime's vDSO (sondeClock).
//
//go:nosplit
func sondeClockGettime(clock uintptr, ts *timespec) {
	now := machine.Nanotime()
	if clock == clockRealtime {
		now += machine.WallOffset
	}
	ts.tv_sec = now / 1e9
	ts.tv_nsec = now % 1e9
}
