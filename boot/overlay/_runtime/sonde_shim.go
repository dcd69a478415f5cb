package runtime

// The Linux-ABI shim: what the stock runtime asks of Linux, served on the bare
// machine through TamaGo's goos contract.
//
// Why it is here: it must run before and below the scheduler, and knows m.
//
// The runtime's threads (Ms) outnumber the CPUs: sysmon, Ms that wait in a
// note, spares. So the shim is a small kernel of threads: a system call stores
// the caller's registers in its sondeThread, sondeDispatch (sonde_syscall.go)
// serves it on the CPU's own shim stack, and whatever thread it returns is
// resumed. A thread that blocks is just not returned; nothing of it stays on
// a stack. With nothing to run a CPU halts (goos.Idle) until an interrupt.
//
// Threads change CPU only inside their own system calls: no interrupt switches
// threads, so no goroutine is ever preempted at an arbitrary instruction.
// An interrupt that makes a thread runnable wakes an idle CPU or, if there is
// none, asks the goroutine it interrupted to yield (SondeTick), which it does
// at its next function prologue; schedule() then calls sondeSchedule.
//
// Rejected: one thread per CPU as in TamaGo's own runtime (a stock runtime does
// not start without sysmon and hands Ps between Ms); switching threads in the
// timer interrupt (it would preempt goroutines anywhere).
//
// Everything runs with interrupts off under sondeLock, is nosplit (the shim
// stack is no goroutine's), and keeps pointers as uintptr (no write barriers).

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	machine "runtime/goos"
	"unsafe"
)

const (
	sondeMaxCPUs   = 32
	sondeStackSize = 16 << 10
	sondeForever   = 1<<63 - 1
)

// sondeThread is one M as the shim sees it.
type sondeThread struct {
	_ sys.NotInHeap // so that storing a *sondeThread needs no write barrier

	// Saved registers; sonde_shim_amd64.s knows the names.
	ax, bx, dx, si, di, bp, sp, ip  uintptr
	r8, r9, r10, r12, r13, r14, r15 uintptr
	flags, fs                       uintptr
	mp                              uintptr // *m
	state                           uint32
	id                              int32
	next, prev                      *sondeThread // in the list that its state says: sonde_threads.go
	key                             uintptr      // what it sleeps on: a futex's address, or &sondeEvent; or 0
	wakeAt                          int64        // Nanotime at which the sleep ends
	later, earlier                  *sondeThread // in sondeSleepers, if wakeAt is not sondeForever
	cpus                            uint32       // the CPUs that may run it, a bit each; 0: all
	yielded                         bool         // it is runnable because it made way for another
}

const (
	sondeFree = iota
	sondeRunning
	sondeRunnable
	sondeBlocked
)

// sondeCPU is what the shim keeps per CPU; 8(GS) points to it.
type sondeCPU struct {
	_ sys.NotInHeap

	cur   *sondeThread // never nil: while idle, &none
	none  sondeThread
	stack uintptr // top of the shim stack
	bit   uint32  // in sondeThread.cpus
	idle  bool
	// wanted is 1 while a thread waits that this CPU could run, and no idle CPU is on its
	// way to it. One that yielded waits for the end of the other's slice (sondeExpire): each would
	// drive the other out at once. Written under sondeLock; ring 3 is not entered then.
	wanted int32
	late   uint32 // 1: SondeWake found this CPU holding sondeLock
	alarm  int64  // when this CPU's timer is to interrupt
	armed  int64  // what the timer is set to: see sondeUnlock
	quiet  uint64 // scheduling points passed: see sondeSchedule
	halts  uint64 // times it went idle
	slept  int64  // nanoseconds spent idle
	since  int64  // when it went idle, 0 while it is not
	tls    [4]uintptr
	idleG  g
}

// sondeRunq holds the runnable threads, first come first served.
// guarded by sondeLock
var sondeRunq sondeList

// sondeWaiting is the length of sondeRunq; read without the lock as a hint.
var sondeWaiting atomic.Int32

var (
	sondeLockWord uint32 // bit of the CPU that holds sondeLock
	sondeCPUs     [sondeMaxCPUs]sondeCPU
	sondeStacks   [sondeMaxCPUs][sondeStackSize]byte
)

func sondeSyscall()
func sondeClock()
func sondeCPUStart()
func sondeWrfsbase(base uintptr)
func sondeCPUSelf() *sondeCPU
func sondeSetCPUSelf(c *sondeCPU)
func sondeIRQsOn() bool
func sondeIRQOff() (flags uintptr)
func sondeIRQRestore(flags uintptr)

// sondeArgv is what a Linux kernel leaves on the stack: argv, envp, auxv.
var (
	sondeArgv [9]uintptr
	sondeRand [16]byte
	sondeName = [...]byte{'s', 'o', 'n', 'd', 'e', 0}
	sondeEnv  [64]byte
)

// sondeShimInit makes the caller thread 0, makes the other CPUs wait for threads,
// and returns the argument vector for rt0_go.
//
// Context: CPU 0 before the runtime, interrupts off.
//
//go:nosplit
func sondeShimInit() uintptr {
	for i := 0; i < machine.CPUs; i++ {
		c := &sondeCPUs[i]
		c.stack = uintptr(unsafe.Pointer(&sondeStacks[i])) + sondeStackSize - 64
		c.alarm, c.armed = sondeForever, sondeForever
		c.bit = 1 << i
		c.cur = &c.none
		c.tls[0] = uintptr(unsafe.Pointer(&c.idleG))
	}
	// No preemption by signal; and scavenged memory is not given back, so
	// make the runtime use MADV_FREE, which costs nothing.
	copy(sondeEnv[:], "GODEBUG=asyncpreemptoff=1,madvdontneed=0")
	sondeHeapInit()
	t := sondeNewThread()
	t.state, t.mp = sondeRunning, uintptr(unsafe.Pointer(&m0))
	sondeCPUs[0].cur = t
	sondeSetCPUSelf(&sondeCPUs[0])
	vdsoClockgettimeSym = abi.FuncPCABI0(sondeClock)
	for i := 1; i < machine.CPUs; i++ {
		machine.Task(unsafe.Pointer(sondeCPUs[i].stack), nil, unsafe.Pointer(&sondeCPUs[i].idleG), unsafe.Pointer(abi.FuncPCABI0(sondeCPUStart)))
	}
	machine.Random(sondeRand[:])
	sondeArgv = [9]uintptr{
		uintptr(unsafe.Pointer(&sondeName)), 0,
		uintptr(unsafe.Pointer(&sondeEnv)), 0,
		_AT_PAGESZ, 4096,
		_AT_RANDOM, uintptr(unsafe.Pointer(&sondeRand)),
		_AT_NULL,
	}
	return uintptr(unsafe.Pointer(&sondeArgv))
}

// sondeFirstThread is where a further CPU begins: idle, until it is given a
// thread.
//
//go:nosplit
func sondeFirstThread() *sondeThread {
	c := &sondeCPUs[machine.ProcID()]
	sondeSetCPUSelf(c)
	sondeAcquire()
	return sondePick(c)
}

//go:nosplit
func sondeAcquire() {
	me := sondeCPUSelf().bit
	for atomic.Load(&sondeLockWord) != 0 || !atomic.Cas(&sondeLockWord, 0, me) {
		procyield(10)
	}
}

// sondeKicks are the CPUs that sondeUnlock is to interrupt, a bit each.
// guarded by sondeLock
var sondeKicks uint32

// sondeRelease releases sondeLock, and does what SondeWake could not do meanwhile.
//
//go:nosplit
func sondeRelease() {
	sondeUnlock()
	for c := sondeCPUSelf(); atomic.Load(&c.late) != 0; {
		atomic.Store(&c.late, 0)
		sondeAcquire()
		sondeWakeLate()
		sondeUnlock()
	}
}

// sondeUnlock releases sondeLock, and then does what the holder asked of devices: it sets
// the CPU's timer and sends interrupts. In a virtual machine that is slow, as it takes a lock of
// the hypervisor's, and all CPUs would wait for it.
//
//go:nosplit
func sondeUnlock() {
	kicks := sondeKicks
	sondeKicks = 0
	atomic.Store(&sondeLockWord, 0)
	if c := sondeCPUSelf(); c.armed != c.alarm {
		c.armed = c.alarm
		machine.Alarm(c.alarm)
	}
	for i := uint64(0); kicks != 0; i++ {
		if kicks&1 != 0 {
			machine.Wake(i)
		}
		kicks >>= 1
	}
}

// SondeLocked reports whether some CPU holds sondeLock: it may be this one, and what runs here then
// must not be abandoned.
//
// Context: any.
//
//go:nosplit
func SondeLocked() bool { return atomic.Load(&sondeLockWord) != 0 }

// sondePick chooses the thread that c runs next, halting until there is one,
// and releases sondeLock. From here until the thread is resumed FS is its own:
// whatever traps finds a g that only this CPU uses.
//
//go:nosplit
func sondePick(c *sondeCPU) *sondeThread {
	t := sondeNext(c)
	for ; t == nil; t = sondeNext(c) {
		sondeWrfsbase(uintptr(unsafe.Pointer(&c.tls[1])))
		c.cur = &c.none
		c.idle = true
		c.halts++
		c.quiet++
		c.since = machine.Nanotime()
		sondeRelease()
		machine.Idle(c.alarm)
		sondeAcquire()
		c.idle = false
		c.slept += machine.Nanotime() - c.since
		c.since = 0
	}
	sondeRunq.remove(t)
	sondeWaiting.Add(-1)
	sondeAnswer(c)
	t.state = sondeRunning
	c.cur = t
	c.quiet++
	sondeWrfsbase(t.fs)
	sondeRelease()
	if mp := (*m)(unsafe.Pointer(t.mp)); mp != nil && mp.curg != nil {
		sondeOn(mp.curg)
	}
	return t
}

// sondeReady makes a blocked thread runnable and has a CPU take it: an idle one, or one
// in ring 3, or that which comes first to a scheduling point.
//
//go:nosplit
func sondeReady(t *sondeThread, ret uintptr) {
	t.ax, t.yielded = ret, false
	sondeUnblock(t)
	sondeEnqueue(t)
	if !sondeWakeIdle(t) {
		sondeWant(t)
	}
}

//go:nosplit
func sondeEnqueue(t *sondeThread) {
	t.state = sondeRunnable
	sondeRunq.add(t)
	sondeWaiting.Add(1)
}

// sondeSchedule is called at the top of schedule(): a scheduling point of this
// CPU (no goroutine is running, no probe handler, detour or slot is in use),
// and the place where an M makes way for one that waits for a CPU.
func sondeSchedule() {
	if sondeWaiting.Load() != 0 || sondeCPUSelf().wanted != 0 {
		osyield()
	}
	flags := sondeIRQOff()
	c := sondeCPUSelf()
	c.quiet++
	c.cur.cpus = 0 // SondeBind was for the goroutine that it ran
	sondeIRQRestore(flags)
}

// SondePass says that this CPU is at a scheduling point.
//
//go:nosplit
func SondePass() {
	flags := sondeIRQOff()
	sondeCPUSelf().quiet++
	sondeIRQRestore(flags)
}

// SondeWake wakes the goroutine that sleeps on n (SondeSleepOn), once.
//
// Context: any; interrupts are off meanwhile.
//
//go:nosplit
//go:nowritebarrierrec
func SondeWake(n *SondeNote) {
	key := (*uint32)(unsafe.Pointer(&n.key))
	if atomic.Xchg(key, 1) != 0 {
		return // already awake
	}
	flags := sondeIRQOff()
	if c := sondeCPUSelf(); atomic.Load(&sondeLockWord) == c.bit {
		atomic.Store(&c.late, 1) // a handler, or an NMI, on top of the lock's holder
	} else {
		sondeAcquire()
		sondeFutexWake(uintptr(unsafe.Pointer(key)), 1)
		sondeRelease()
	}
	sondeIRQRestore(flags)
}

// sondeWakeLate wakes the threads that SondeWake could not wake: those that sleep on a word that has its
// value. If that is another futex's value, its thread looks again. Called under sondeLock.
//
//go:nosplit
func sondeWakeLate() {
	for i := range sondeAsleep {
		for t := sondeAsleep[i].head; t != nil; {
			w := t
			t = t.next
			if w.key != sondeEventKey() && *(*uint32)(unsafe.Pointer(w.key)) == 1 {
				sondeReady(w, 0)
			}
		}
	}
}

// SondeQuiet returns how many scheduling points CPU i has passed, and SondeIdle
// how often and how long (ns) it has halted.
//
//go:nosplit
func SondeQuiet(i int) uint64 { return atomic.Load64(&sondeCPUs[i].quiet) }

//go:nosplit
func SondeIdle(i int) (idle bool, halts uint64, ns int64) {
	c := &sondeCPUs[i]
	ns = c.slept
	if since := atomic.Loadint64(&c.since); since != 0 {
		ns += machine.Nanotime() - since
	}
	return c.idle, c.halts, ns
}

// SondeRunning returns the goroutine that CPU i runs, nil for none, and what it runs for.
//
//go:nosplit
func SondeRunning(i int) (gp, thread unsafe.Pointer) {
	flags := sondeIRQOff()
	sondeAcquire() // so that the thread does not leave the CPU
	if mp := (*m)(unsafe.Pointer(sondeCPUs[i].cur.mp)); mp != nil {
		if g := mp.curg; g != nil {
			gp, thread = unsafe.Pointer(g), g.sondeThread
		}
	}
	sondeRelease()
	sondeIRQRestore(flags)
	return gp, thread
}

// SondeExitContext returns where the thread of this CPU called exit.
//
//go:nosplit
func SondeExitContext() (ip, sp, bp uint64, gp unsafe.Pointer) {
	t := sondeCPUSelf().cur
	return uint64(t.ip), uint64(t.sp), uint64(t.bp), unsafe.Pointer(t.r14)
}
