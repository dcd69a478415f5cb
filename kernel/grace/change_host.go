//go:build !tamago

package grace

// CallAll is smp.CallAll of one CPU; tests count the calls.
var CallAll = func(f func()) { f() }

// syncAll is text.Sync.
func syncAll() { CallAll(func() {}) }
