package procfs

import (
	"fmt"
	"strings"
)

// Interrupt is a line of /proc/interrupts.
type Interrupt struct {
	Vector uint8
	Name   string
	Counts []uint64 // how often it arrived, by CPU
}

// interrupts lists what has arrived, by vector and CPU, as Linux does.
func interrupts(all []Interrupt) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("     ")
	for i := range all[0].Counts {
		fmt.Fprintf(&b, " %10s", fmt.Sprintf("CPU%d", i))
	}
	b.WriteString("\n")
	for _, one := range all {
		fmt.Fprintf(&b, "%4d:", one.Vector)
		for _, n := range one.Counts {
			fmt.Fprintf(&b, " %10d", n)
		}
		fmt.Fprintf(&b, "  %s\n", one.Name)
	}
	return b.String()
}
