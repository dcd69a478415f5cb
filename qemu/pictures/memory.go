package main

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

// A section is a line of /proc/iomem: FIRST-LAST : NAME.
type section struct {
	first, last uint64
	name        string
}

// imageBase is where physical address 0 would be in the image's range of addresses (boot/layout_tamago.go).
const imageBase = 0xffffffff_80000000

func parseSection(line string) (s section, ok bool) {
	place, name, found := strings.Cut(strings.TrimSpace(line), " : ")
	from, to, both := strings.Cut(place, "-")
	var err, err2 error
	s.first, err = strconv.ParseUint(from, 16, 64)
	s.last, err2 = strconv.ParseUint(to, 16, 64)
	s.name = name
	return s, found && both && err == nil && err2 == nil
}

// drawMemory draws the parts of the image, each as long as it is large, with both addresses.
func drawMemory(all []section) *draw.Drawing {
	d := draw.New("The kernel's image in memory", 740, "each bar is as long as the part is large")
	d.Height = (len(all) + 6) * (draw.Row + 6)
	y := 30 + 3*draw.Row
	for i, head := range []string{"", "physical", "virtual", "size"} {
		d.Text([]int{20, 150, 250, 410}[i], y, "faint", head)
	}
	largest := uint64(0)
	for _, s := range all {
		largest = max(largest, s.last+1-s.first)
	}
	for _, s := range all {
		y += draw.Row + 6
		d.Text(20, y, "", s.name)
		d.Text(150, y, "faint", fmt.Sprintf("0x%08x", s.first))
		d.Text(250, y, "", fmt.Sprintf("0x%016x", s.first+imageBase))
		d.Text(410, y, "faint", fmt.Sprintf("%.1f MiB", float64(s.last+1-s.first)/(1<<20)))
		d.Rect(490, y-13, max(int(230*(s.last+1-s.first)/largest), 1), 16, "bar")
	}
	d.Height = y + 2*draw.Row
	return d
}
