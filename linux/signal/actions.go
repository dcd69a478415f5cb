package signal

import "sonde/kernel/abi"

// Actions is what a program wants done, by signal.
type Actions [abi.SIGMAX + 1]abi.Sigaction

// Ignored reports whether signal n does nothing at all.
func (a *Actions) Ignored(n int) bool {
	switch a[n].Handler {
	case abi.SIG_IGN:
		return true
	case abi.SIG_DFL:
		return DefaultOf(n) == Ignore
	}
	return false
}

// Caught reports whether the program has a handler for n.
func (a *Actions) Caught(n int) bool { return a[n].Handler > abi.SIG_IGN }

// ForExec forgets the handlers, whose code is gone; what is ignored stays so.
func (a *Actions) ForExec() {
	for n := range a {
		if a[n].Handler != abi.SIG_IGN {
			a[n] = abi.Sigaction{}
		} else {
			a[n] = abi.Sigaction{Handler: abi.SIG_IGN}
		}
	}
}
