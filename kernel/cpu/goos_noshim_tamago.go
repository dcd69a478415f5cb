//go:build tamago && !linux

package cpu

import _ "unsafe" // for linkname

// TamaGo's own runtime needs no thread shim, sets its alarms itself, and keeps
// no wall clock.

func serveShim() {}

// random is for TamaGo's runtime, which asks by this name.
//
//go:linkname random runtime/goos.GetRandomData
func random(b []byte) { getRandomData(b) }

// SetWallClock does nothing here.
func SetWallClock(int64) {}

// WallClock returns 0.
func WallClock() int64 { return 0 }
