//go:build tamago && linux

package cpu

import (
	"runtime/goos"

	"sonde/arch/amd64/trap"
)

// The stock runtime's thread shim wants more than TamaGo's contract (see
// boot/overlay/_goos).

func serveShim() {
	goos.Alarm = alarm
	goos.CPUs = numCPUs
	goos.Random = getRandomData
	goos.Program = trap.Program
}

// SetWallClock says what to add to Nanotime to get the Unix time, in ns.
func SetWallClock(offset int64) { goos.WallOffset = offset }

// WallClock returns it.
func WallClock() int64 { return goos.WallOffset }
