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

// A Share is what a thread has had of the host's processors.
type Share struct {
	Ran, Delayed time.Duration // how long it has run, and waited for a processor
}

// Shares returns what each of QEMU's threads has had, by the thread's number.
func (s *Session) Shares() map[string]Share { return SharesOf(s.Pid()) }

// SharesOf returns what each thread of a process has had, by the thread's number. Elsewhere than on Linux it
// is not known.
//
// Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
func SharesOf(pid int) map[string]Share {
	shares := map[string]Share{}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, thread := range threads {
		b, _ := os.ReadFile(filepath.Join(thread, "schedstat")) // of one that has ended there is none
		var had Share
		fmt.Sscan(string(b), &had.Ran, &had.Delayed)
		shares[filepath.Base(thread)] = had
	}
	return shares
}
