//go:build tamago

package smp

// Stopping the machine.
//
// Every other CPU gets an interrupt and stands in its handler (hold) until the
// stop is over. So its saved registers are those of a goroutine, of the idle
// loop, or of a probe handler that runs with interrupts on; never those of a
// handler that runs with them off. No other frame returns to code that fn may
// change: hold's frame is the only one with interrupts off.
//
// A stop has a number, odd while it is on (round). A CPU that is held says so
// with that number (here), and leaves when round is another one. So no CPU has to
// wait for the last one to leave: one that is slow to see the end of a stop
// cannot be mistaken for one that is held by the next, and an interrupt that
// arrives when its stop has been abandoned finds an even number and returns.
//
// fn runs in interrupt context, where neither the scheduler nor the garbage
// collector can take the CPU. It must not store pointers (the write
// barrier needs a P), so what it returns goes out as two plain words.
//
// A CPU leaves by IRETQ, which serializes, so it executes what fn has written:
// Intel SDM vol. 3A, "Serializing Instructions" and "Handling Self- and
// Cross-Modifying Code".
//
// NMIs cannot be held off. While fn runs, nothing but their entry is executed.
//
// Locks: mu is taken with interrupts on. Whoever holds a cpu.SpinLock has
// interrupts off, so no CPU is ever held while it holds one.
//
// Rejected: a thread per CPU that waits for the others, as in Linux (a thread
// of the shim cannot be bound to a CPU, and a grace period is a call away);
// CallAll with a barrier (a CPU that does not come would hang all the others).

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/kernel/tape"
)

var (
	round   atomic.Uint64               // number of the stop; odd while one is on
	here    [trap.MaxCPUs]atomic.Uint64 // the stop that holds this CPU, or did
	frames  [trap.MaxCPUs]uintptr       // *amd64.Regs: where here stopped this CPU
	stopper atomic.Int32                // 1 more than the CPU that runs fn, else 0
	limit   atomic.Int64                // nanoseconds, see StopLimit; 0: defaultLimit
	stop    struct {                    // guarded by mu
		fn   func(held []*amd64.Regs) error
		err  [2]uintptr // what fn returned: the words of an error
		took int64
		wait int64  // the limit that applied
		late uint32 // bit i: CPU i did not come
	}
)

const (
	defaultLimit = time.Second

	// maxGap is the most that one turn of a loop adds to the time waited, in
	// nanoseconds. If it took longer the host had taken this CPU away, and the
	// others perhaps too.
	maxGap = 1e6
)

// Made beforehand: they are also returned where nothing can be allocated.
var (
	errNested = refusal.New(syscall.EDEADLK, "smp: stop machine: the machine is stopped already")
	errTrap   = refusal.New(syscall.EDEADLK, "smp: stop machine: in a trap handler, or with interrupts off")
)

// StopLimit sets how long StopMachine waits for the other CPUs to stop, and
// returns what it was: at first one second. Time in which the host does not run
// this CPU hardly counts.
//
// Context: any.
func StopLimit(d time.Duration) (old time.Duration) {
	old = time.Duration(limit.Swap(int64(d)))
	if old == 0 {
		old = defaultLimit
	}
	return old
}

// StopMachine stops all other CPUs, runs fn on this one, and lets them continue.
// held[i] is where CPU i was stopped, nil for this CPU; what fn changes there
// takes effect when CPU i continues. took is how long they were stopped.
//
// fn runs in interrupt context: it must not allocate, block, or store pointers
// anywhere but in its own variables, and must not keep held. What it returns
// must exist before the stop; it becomes err.
//
// Errors: EDEADLK called from a fn or from a trap handler; ETIMEDOUT (a
// *LateError) a CPU did not stop, and fn has not run; what fn returns.
// Source: kprobes.txt §1.4.5, stop_machine.
func StopMachine(fn func(held []*amd64.Regs) error) (took time.Duration, err error) {
	if err := mayNotStop(); err != nil {
		return 0, err
	}
	mu.Lock()
	defer mu.Unlock()
	own, stop.fn = stopOthers, fn
	raiseSelf()
	took = time.Duration(stop.took)
	if stop.late != 0 {
		err = lateError(stop.late, time.Duration(stop.wait))
	} else {
		// Safe because: fn is still referenced, so what it returned is alive.
		err = *(*error)(unsafe.Pointer(&stop.err))
	}
	stop.fn, stop.err = nil, [2]uintptr{}
	return took, err
}

// Stopped reports whether a fn of StopMachine runs.
//
// Context: any.
func Stopped() bool { return stopper.Load() != 0 }

// mayNotStop says why the machine cannot be stopped from here.
func mayNotStop() error {
	flags := cpu.IRQOff()
	lo, hi := trap.Self().TrapStack()
	sp := uintptr(unsafe.Pointer(&flags))
	cpu.IRQRestore(flags)
	switch {
	case Stopped():
		return errNested
	case flags&amd64.RFLAGS_IF == 0 || sp > lo && sp < hi:
		return errTrap
	}
	return nil
}

// stopOthers is StopMachine in interrupt context.
func stopOthers(*amd64.Regs) {
	start := cpu.Nanotime()
	self := cpu.ID()
	n := round.Add(1)
	if tape.On() {
		note(tape.Stopping, 0)
	}
	sendOthers(amd64.VecStop)
	if stop.wait = limit.Load(); stop.wait == 0 {
		stop.wait = int64(defaultLimit)
	}
	if stop.late = gather(n, stop.wait); stop.late == 0 {
		frames[self] = 0
		stopper.Store(int32(self) + 1)
		awaitNMIs()
		err := stop.fn(heldRegs())
		stopper.Store(0)
		stop.err = *(*[2]uintptr)(unsafe.Pointer(&err)) // Safe because: that is what an interface is
	} else {
		askLate(stop.late)
	}
	round.Store(n + 1)
	stop.took = cpu.Nanotime() - start
	if tape.On() {
		note(tape.StopOver, uint64(stop.took))
	}
}

// gather waits for all others to be held by stop n, for limit nanoseconds at most,
// and returns those that are not.
func gather(n uint64, limit int64) (late uint32) {
	self := cpu.ID()
	waited, last := int64(0), cpu.Nanotime()
	for i := range cpu.Num() {
		for i != self && here[i].Load() != n {
			now := cpu.Nanotime()
			waited += min(now-last, maxGap)
			if last = now; waited > limit {
				late |= 1 << i
				break
			}
			cpu.Pause()
		}
	}
	return late
}

// awaitNMIs returns when no CPU is in an NMI that came before stopper was set: others
// do not get as far as code that fn may change (die.nmi).
func awaitNMIs() {
	for i := range cpu.Num() {
		for trap.InNMI(i) {
			cpu.Pause()
		}
	}
}

// heldRegs returns frames as what they are.
func heldRegs() []*amd64.Regs {
	// Safe because: the frames are on trap stacks, which stay where they are.
	return unsafe.Slice((**amd64.Regs)(unsafe.Pointer(&frames)), cpu.Num())
}

// hold stands still until the stop is over.
func hold(r *amd64.Regs) {
	cpu.EOI()
	n := round.Load()
	if n&1 == 0 {
		return // given up before this CPU came
	}
	id := cpu.ID()
	frames[id] = uintptr(unsafe.Pointer(r))
	taping := tape.On()
	if taping {
		note(tape.Held, r.IP)
	}
	here[id].Store(n)
	standStill(&round, n)
	if taping {
		note(tape.LetGo, 0)
	}
}

// standStill returns when *r is not n any more. Held CPUs execute this and nothing
// else, so fn may change all code but this package's and the trap stubs'.
func standStill(r *atomic.Uint64, n uint64)
