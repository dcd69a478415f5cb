//go:build tamago && !linux

package cpu

// TamaGo's own runtime needs no thread shim, sets its alarms itself, and keeps
// no wall clock.

func serveShim() {}

// SetWallClock does nothing here.
func SetWallClock(int64) {}
