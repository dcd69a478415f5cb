// Package tape records what the CPUs do while code is changed: a byte is poked, a grace period passes, the
// machine is stopped. The packages that do these things note it (Note), if anyone asked for it (On, Start);
// the command glass shows it.
//
// Noting allocates nothing, takes no lock and stores no pointer.
//
// Rejected: a function variable that whoever records sets. It would be an indirect call in code that runs while
// the other CPUs stand still, where kprobes/reach has to know all that is called.
package tape

import (
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
)

// What has happened to the machine, or to a CPU, while code was being changed.
type What uint8

// The events. A and B are words of the event.
const (
	Poked       What = iota + 1 // the byte of code at A was replaced; B is the old one and, times 256, the new one
	Serialized                  // the CPU, interrupted at A, executes the code as it is now
	DetourMade                  // it begins at A; hits of the INT3 continue at B
	GraceBegins                 // the CPU waits for a grace period
	Passed                      // the CPU has passed a scheduling point; A: how
	GraceOver                   // all have
	Stopping                    // the CPU stops the others
	Held                        // the CPU stands still, interrupted at A
	Written                     // the bytes of code at A are those of B now, as many as a jump has
	LetGo                       // the CPU continues
	StopOver                    // after A nanoseconds
)

// How a CPU has passed a scheduling point.
const (
	BySwitch  = iota // of goroutines
	ByIdling         // it is idle
	InProgram        // it is in ring 3
)

// An Event is one thing that has happened.
type Event struct {
	Time uint64 // TSC
	CPU  int32
	What What
	A, B uint64
}

// Events is how many events there is room for.
const Events = 512

// tape is the only one: code that notes an event may be in an interrupt on an idle CPU, where the
// collector would not see that it uses a tape.
var tape struct {
	mu      sync.Mutex // of Start and Stop
	on      atomic.Bool
	used    atomic.Uint32
	events  [Events]Event
	written [Events]atomic.Bool
}

// Start begins to note events. Stop must be called.
//
// Errors: EBUSY events are being noted already.
func Start() error {
	tape.mu.Lock()
	defer tape.mu.Unlock()
	if On() {
		return refusal.New(syscall.EBUSY, "the way to a jump is being recorded already; wait until that is over")
	}
	for i := range tape.written {
		tape.written[i].Store(false) // an event that came too late for Stop
	}
	tape.used.Store(0)
	tape.on.Store(true)
	return nil
}

// On reports whether events are to be noted.
//
// Context: any.
func On() bool { return tape.on.Load() }

// Note notes an event at a time by the TSC, if On.
//
// Context: any.
func Note(time uint64, cpu int, w What, a, b uint64) {
	if !On() {
		return // the caller has looked before Stop
	}
	n := tape.used.Add(1) - 1
	if n >= Events {
		return
	}
	e := &tape.events[n]
	e.Time, e.CPU, e.What, e.A, e.B = time, int32(cpu), w, a, b
	tape.written[n].Store(true)
}

// Stop returns what has been noted since Start, in the order of its beginning, and how many events are
// lost.
func Stop() (list []Event, lost int) {
	tape.mu.Lock()
	defer tape.mu.Unlock()
	tape.on.Store(false)
	n := int(tape.used.Load())
	for i := range min(n, Events) {
		if tape.written[i].Load() {
			list = append(list, tape.events[i])
		}
	}
	return list, max(n-Events, 0)
}
