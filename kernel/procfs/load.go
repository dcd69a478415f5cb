package procfs

import (
	"math"
	"sync"
	"time"
)

// LoadPeriod is the time from one sample of the load to the next.
const LoadPeriod = 5 * time.Second

// Averages are the load of the last 1, 5 and 15 minutes.
type Averages struct {
	mu  sync.Mutex
	now [3]float64 // guarded by mu
}

// Sample tells how many programs run or want to. To be called every LoadPeriod.
func (a *Averages) Sample(running int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, minutes := range [...]float64{1, 5, 15} {
		old := math.Exp(-LoadPeriod.Minutes() / minutes)
		a.now[i] = a.now[i]*old + float64(running)*(1-old)
	}
}

// Now returns the averages.
func (a *Averages) Now() [3]float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}
