// Package signal implements signals without processes: sets of them, queues of pending
// ones, and default actions. It has no locks: the owner of a value must lock it.
package signal

import "sonde/kernel/abi"

// Set is a set of signals; signal n is bit n-1, as in sigset_t.
type Set uint64

// Of is the set of some signals.
func Of(signals ...int) (s Set) {
	for _, n := range signals {
		s |= 1 << (n - 1)
	}
	return s
}

// One is Of for one signal, without a loop.
func One(n int) Set { return 1 << (n - 1) }

// Has reports whether n is in s.
func (s Set) Has(n int) bool { return s>>(n-1)&1 != 0 }

// Unblockable are the signals that no mask and no handler holds back.
var Unblockable = Of(abi.SIGKILL, abi.SIGSTOP)

// Stops are the signals that stop a process unless it says otherwise.
var Stops = Of(abi.SIGSTOP, abi.SIGTSTP, abi.SIGTTIN, abi.SIGTTOU)

// synchronous are those that an instruction caused. They come first: a handler
// that runs before them would be blamed.
var synchronous = Of(abi.SIGSEGV, abi.SIGBUS, abi.SIGILL, abi.SIGTRAP, abi.SIGFPE, abi.SIGSYS)

// Valid reports whether n is the number of a signal.
func Valid(n int) bool { return n >= 1 && n <= abi.SIGMAX }

// Realtime reports whether signals of that number are queued, each for itself.
func Realtime(n int) bool { return n >= abi.SIGRTMIN }

// Default is what happens where a program has no handler.
type Default int

// The defaults of signal(7).
const (
	Terminate Default = iota
	Core              // terminate, and write memory to a file where that is wanted
	Ignore
	Stop
	Continue
)

// DefaultOf returns the default of a signal.
func DefaultOf(n int) Default {
	switch n {
	case abi.SIGQUIT, abi.SIGILL, abi.SIGTRAP, abi.SIGABRT, abi.SIGBUS, abi.SIGFPE, abi.SIGSEGV,
		abi.SIGXCPU, abi.SIGXFSZ, abi.SIGSYS:
		return Core
	case abi.SIGCHLD, abi.SIGURG, abi.SIGWINCH:
		return Ignore
	case abi.SIGSTOP, abi.SIGTSTP, abi.SIGTTIN, abi.SIGTTOU:
		return Stop
	case abi.SIGCONT:
		return Continue
	}
	return Terminate
}
