package shell

import (
	"fmt"
	"strconv"
	"strings"
)

var lscpuCommand = &Command{
	Name: "lscpu",
	Help: "show the processors",
	Run:  lscpu, Alone: true,
}

func lscpu(c *Context, _ []string) error {
	if c.Machine.CPUs == nil {
		return missing("processors")
	}
	cpus := c.Machine.CPUs()
	if len(cpus) == 0 {
		return missing("processors")
	}
	var online []string
	for _, cpu := range cpus {
		if cpu.Online {
			online = append(online, strconv.Itoa(cpu.ID))
		}
	}
	first := cpus[0]
	for _, line := range [][2]string{
		{"Architecture", "x86_64"},
		{"CPU(s)", strconv.Itoa(len(cpus))},
		{"On-line CPU(s) list", strings.Join(online, ",")},
		{"Vendor ID", first.Vendor},
		{"Model name", first.Model},
		{"CPU family", strconv.Itoa(first.Family)},
		{"Model", strconv.Itoa(first.ModelID)},
		{"Stepping", strconv.Itoa(first.Stepping)},
		{"CPU MHz", fmt.Sprintf("%.3f", first.MHz)},
		{"Flags", strings.Join(first.Flags, " ")},
	} {
		if _, err := fmt.Fprintf(c.Out, "%-21s%s\n", line[0]+":", line[1]); err != nil {
			return err
		}
	}
	return nil
}
