//go:build !tamago

package proc

// makeCurrent is for the machine: there is no probe here that asks.
func (t *Thread) makeCurrent() {}
