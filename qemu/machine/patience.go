package machine

import (
	"fmt"
	"os"
	"path/filepath"
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

// Delays returns how long each of QEMU's threads has waited for a processor of this host, by the thread's
// number. Elsewhere than on Linux it is not known.
//
// Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
func (s *Session) Delays() map[string]time.Duration {
	delays := map[string]time.Duration{}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.Pid()))
	for _, thread := range threads {
		b, _ := os.ReadFile(filepath.Join(thread, "schedstat")) // of one that has ended there is none
		var ran, delayed time.Duration
		fmt.Sscan(string(b), &ran, &delayed)
		delays[filepath.Base(thread)] = delayed
	}
	return delays
}
