package procfs

import (
	"math"
	"sync"
	"time"
)

// LoadPeriod is the time from one sample of the load to the next.
const LoadPeriod = 5 * time.Second

// loadUnit is 1 in Averages.
const loadUnit = 1 << 11

// Averages are the load of the last 1, 5 and 15 minutes.
type Averages struct {
	now [3]uint64  // first, and in loadUnits: as avenrun, by which name scripts of Linux's read them
	mu  sync.Mutex // guards now, except from those scripts
}

// Sample tells how many programs run or want to. To be called every LoadPeriod.
func (a *Averages) Sample(running int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	target := float64(running * loadUnit)
	for i, minutes := range [...]float64{1, 5, 15} {
		now, old := float64(a.now[i]), math.Exp(-LoadPeriod.Minutes()/minutes)
		next := math.Round(now*old + target*(1-old))
		if next == now && now != target { // rounding must not keep it away
			next += math.Copysign(1, target-now)
		}
		a.now[i] = uint64(next)
	}
}

// Now returns the averages.
func (a *Averages) Now() (now [3]float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, n := range a.now {
		now[i] = float64(n) / loadUnit
	}
	return now
}
