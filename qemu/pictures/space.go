package main

import (
	"strings"

	"sonde/qemu/draw"
)

// An area is a part of all addresses that has one use.
type area struct{ first, rights, use string }

// inFile is what files have with these rights.
var inFile = map[string]string{"r-x": "code of ", "r--": "constants of ", "rw-": "data of "}

// programAreas reads /proc/PID/maps: neighbours of the same file with the same rights are one area, and so are all
// that have no name.
func programAreas(maps []string) (all []area) {
	for _, line := range maps {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		first, _, _ := strings.Cut(f[0], "-")
		a := area{"0x" + strings.Repeat("0", max(0, 16-len(first))) + first, f[1][:3], "memory that it has asked for"}
		if len(f) > 5 {
			a.use = f[5]
		}
		switch {
		case a.use == "[vsyscall]": // is in the kernel's half, and emulated
			continue
		case strings.HasPrefix(a.use, "/"):
			a.use = inFile[a.rights] + a.use
		}
		if last := len(all) - 1; len(f) > 5 || last < 0 || all[last].use != a.use {
			if len(f) <= 5 {
				a.rights = "rw-"
			}
			all = append(all, a)
		}
	}
	return all
}

// kernelAreas reads /sys/kernel/debug/layout.
func kernelAreas(lines []string) (all []area) {
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		if len(f) < 3 {
			continue
		}
		first, _, _ := strings.Cut(f[0], "-")
		all = append(all, area{"0x" + first, strings.ReplaceAll(f[1], "---", ""), f[2]})
	}
	return all
}

// drawSpace draws the areas of the kernel and of a program, the lowest address first, and what is between the halves.
func drawSpace(layout, maps []string) *draw.Drawing {
	d := draw.New("The address space", 900, "areas by first address, while myprog runs; not to scale")
	y := 30 + 3*draw.Row
	half := func(title, class string, areas []area) {
		d.Text(20, y, "head", title)
		y += 10
		for _, a := range areas {
			use := draw.Wrap(a.use, draw.Letters(560))
			high := len(use)*draw.Row + 6
			d.Rect(20, y, 860, high, class)
			d.Text(30, y+draw.Row-4, "faint", a.first)
			d.Text(210, y+draw.Row-4, "", a.rights)
			for i, line := range use {
				d.Text(260, y+(i+1)*draw.Row-4, "step", line)
			}
			y += high + 4
		}
	}
	half("Programs have the lower half, each one of its own", "band", programAreas(maps))
	y += draw.Row
	d.Rect(20, y-14, 860, draw.Row+6, "box")
	d.Text(30, y+2, "trap", "no addresses: bits 48 to 63 of an address are as bit 47, or the processor refuses it")
	y += 2*draw.Row + 4
	half("The kernel has the upper half, the same in all tables, and not for ring 3", "band", kernelAreas(layout))
	d.Height = y + draw.Row
	return d
}
