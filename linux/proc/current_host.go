//go:build !tamago

package proc

// makeCurrent is for the machine: there is no probe here that asks.
func (t *Thread) makeCurrent() {}

// asleep is for the machine, too: Go does not tell here.
func (t *Thread) asleep() bool { return true }
