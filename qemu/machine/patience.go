package machine

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Patience returns how long to wait for what takes at most d on a host that has nothing else to do:
// longer the more else this host has to do now.
//
// Source: Linux, proc(5), /proc/loadavg.
func Patience(d time.Duration) time.Duration {
	load, _ := os.ReadFile("/proc/loadavg") // elsewhere there is none, and d is the limit
	return d * time.Duration(crowd(string(load), runtime.NumCPU()))
}

// crowd returns how many threads want to run for each processor, at least 1: the average of the last
// minute or of the last quarter of an hour, whichever is higher.
func crowd(loadavg string, processors int) int {
	var one, five, fifteen float64
	fmt.Sscan(loadavg, &one, &five, &fifteen)
	return max(1, int(max(one, fifteen))/processors)
}
