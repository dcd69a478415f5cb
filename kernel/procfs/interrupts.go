package procfs

import (
	"fmt"
	"strings"
)

// Interrupt is a line of /proc/interrupts. One that a device has requested has the Chip where it
// arrives, and there the Pin; Name is its number then, and What the device.
type Interrupt struct {
	Name   string
	Counts []uint64 // how often it arrived, by CPU
	Chip   string
	Pin    int
	What   string
	Level  bool // not edges count
}

// interrupts lists what has arrived, by CPU.
//
// Source: Linux, show_interrupts() in kernel/irq/proc.c, for the columns.
func interrupts(all []Interrupt) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("           ")
	for i := range all[0].Counts {
		fmt.Fprintf(&b, "CPU%-8d", i)
	}
	b.WriteString("\n")
	for _, one := range all {
		fmt.Fprintf(&b, "%3s:", one.Name)
		for _, n := range one.Counts {
			fmt.Fprintf(&b, " %10d", n)
		}
		if one.Chip != "" {
			how := "edge"
			if one.Level {
				how = "fasteoi"
			}
			fmt.Fprintf(&b, " %8s %3d-%-8s", one.Chip, one.Pin, how)
		} else {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "  %s\n", one.What)
	}
	return b.String()
}
