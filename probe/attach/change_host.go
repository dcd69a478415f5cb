//go:build !tamago

package attach

// callAll is smp.CallAll of one CPU; tests count the calls.
var callAll = func(f func()) { f() }

// syncAll is text.Sync.
func syncAll() { callAll(func() {}) }
