package procfs

import (
	"fmt"
	"strings"
)

// CPU is what is known of one processor.
type CPU struct {
	ID       int
	Vendor   string // "GenuineIntel"
	Model    string // the brand string
	Family   int
	ModelID  int
	Stepping int
	MHz      float64
	APICID   int
	Online   bool
	Flags    []string // Linux's names of the CPUID bits
}

// cpuinfo lists the processors that are online, one paragraph each.
func cpuinfo(cpus []CPU) string {
	var b strings.Builder
	for _, c := range cpus {
		if !c.Online {
			continue
		}
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n",
			c.ID, c.Vendor, c.Family, c.ModelID)
		fmt.Fprintf(&b, "model name\t: %s\nstepping\t: %d\ncpu MHz\t\t: %.3f\napicid\t\t: %d\nflags\t\t: %s\n\n",
			c.Model, c.Stepping, c.MHz, c.APICID, strings.Join(c.Flags, " "))
	}
	return b.String()
}
