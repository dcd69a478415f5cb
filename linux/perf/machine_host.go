//go:build !tamago

package perf

import (
	"sync/atomic"
	"time"

	"sonde/probe/attach"
)

// What events need of the machine, for tests on the host.

func numCPU() int { return 4 }

var started = time.Now()

func timeNow() int64 { return int64(time.Since(started)) }
func later(f func()) { f() }
func awaitCalls()    {}

// hitBy is for whom hits are in tests.
var hitBy atomic.Pointer[whose]

func of(*attach.Hit) (w whose) {
	if p := hitBy.Load(); p != nil {
		w = *p
	}
	return w
}
