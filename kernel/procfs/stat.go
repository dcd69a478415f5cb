package procfs

import (
	"fmt"
	"strings"
	"time"
)

// Stat is what /proc/stat shows.
type Stat struct {
	Up         time.Duration
	Idle       []time.Duration // of each CPU
	User       time.Duration   // that programs have run, on all CPUs together
	Interrupts uint64
	Switches   uint64 // scheduling points that the CPUs have passed
	Boot       time.Time
	Forks      uint64 // threads that have been made
	Running    int    // programs that run or want to
}

// stat has the lines that top and its like read. How much of a CPU's time was the
// programs' is not known of each CPU: all have the same share of what they were busy.
//
// Source: Linux, man proc_stat(5).
func (s Stat) stat() string {
	const tick = time.Second / 100
	var idle time.Duration
	for _, d := range s.Idle {
		idle += min(d, s.Up)
	}
	busy := max(s.Up*time.Duration(len(s.Idle))-idle, 1)
	user := min(s.User, busy)
	var b strings.Builder
	line := func(name string, user, busy, idle time.Duration) {
		fmt.Fprintf(&b, "%s %d 0 %d %d 0 0 0 0 0 0\n", name, user/tick, (busy-user)/tick, idle/tick)
	}
	line("cpu ", user, busy, idle)
	for i, d := range s.Idle {
		mine := s.Up - min(d, s.Up)
		line(fmt.Sprintf("cpu%d", i), time.Duration(float64(mine)*float64(user)/float64(busy)), mine, min(d, s.Up))
	}
	fmt.Fprintf(&b, "intr %d\nctxt %d\nbtime %d\nprocesses %d\nprocs_running %d\nprocs_blocked 0\n", s.Interrupts, s.Switches, s.Boot.Unix(), s.Forks, s.Running)
	return b.String()
}
