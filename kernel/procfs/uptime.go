package procfs

import (
	"fmt"
	"time"
)

// uptime is "12.34 40.00": seconds since boot and seconds idle.
func uptime(up, idle time.Duration) string { return hundredths(up) + " " + hundredths(idle) + "\n" }

// hundredths writes a duration in seconds, cut to two places as in Linux.
func hundredths(d time.Duration) string {
	n := d / (10 * time.Millisecond)
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

// Load is what /proc/loadavg shows.
type Load struct {
	Average        [3]float64
	Running, Total int // threads
	LastID         int
}

func (l Load) loadavg() string {
	return fmt.Sprintf("%.2f %.2f %.2f %d/%d %d\n",
		l.Average[0], l.Average[1], l.Average[2], l.Running, l.Total, l.LastID)
}
