//go:build !tamago

package proc

// makeCurrent is for the machine: there is no probe here that asks.
func (t *Thread) makeCurrent() {}

// here is for the machine, too: a thread that is told what it knows looks once more.
func (t *Thread) here() bool { return false }

// asleep is for the machine, too: Go does not tell here.
func (t *Thread) asleep() bool { return true }

// Current is for the machine, too: goroutines of tests are of no thread.
func Current() *Thread { return nil }
