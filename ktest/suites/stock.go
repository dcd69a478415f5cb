package suites

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"sonde/kernel/vfs"
)

// A count is something that all cases together must leave as they found it.
type count struct {
	name   string
	before int
	now    func() int
}

// counts are added by stock_tamago.go; on the host there are only goroutines.
var counts = []count{
	{name: "goroutines", now: runtime.NumGoroutine}, {name: "files", now: vfs.Opened},
}

// stock is what there was before the cases.
type stock struct {
	counts []count
	heap   uint64
}

// takeStock counts everything.
func takeStock() stock {
	prepareStock()
	s := stock{counts: append([]count(nil), counts...), heap: HeapInUse()}
	for i := range s.counts {
		s.counts[i].before = s.counts[i].now()
	}
	return s
}

// compare counts again and returns the leak line. It gives time to what ends by itself: timers, and
// goroutines that are about to exit.
func (s stock) compare() string {
	var line strings.Builder
	line.WriteString("leak:")
	for _, c := range s.counts {
		now := c.now()
		for tries := 0; now > c.before && tries < 100; tries++ {
			time.Sleep(10 * time.Millisecond)
			now = c.now()
		}
		fmt.Fprintf(&line, " %s %d->%d", c.name, c.before, now)
	}
	fmt.Fprintf(&line, " heap-MiB 0->%d", s.heapGrown())
	return line.String()
}

// slack is by how much the heap may grow: the runtime never frees the descriptors of goroutines (a
// case makes ten thousand of them), and pools and maps keep what they once needed. Kept as well are
// the types of Go (11 MiB, once a case has asked for one), the sorted symbols, and what was read of
// the image for each function that any case has probed (package reach, the safety check of optprobe).
// All cases together have grown it by 24 to 26 MiB.
const slack = 32 << 20

// heapGrown returns by how many MiB the heap has grown beyond the slack.
func (s stock) heapGrown() int {
	if now := HeapInUse(); now > s.heap+slack {
		return int((now - s.heap - slack + 1<<20 - 1) >> 20)
	}
	return 0
}

// HeapInUse returns the bytes of objects that survive collection. It collects several times:
// finalizers and pools release objects only in the second round.
func HeapInUse() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
