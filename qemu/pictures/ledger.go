package main

import (
	"regexp"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

// An entry is a column of the ledger: where hits went, how many, and what that means.
type entry struct {
	name string
	hits int
	says string
}

var ledgerField = regexp.MustCompile(`(?m)^\t(\w+)\s+uint64 // (.*)$`)

// readLedger reads the first probe of /sys/kernel/debug/kprobes/stats, and what the columns mean, from the source.
func readLedger(lines []string, source string) (all []entry) {
	if len(lines) < 2 {
		return nil
	}
	names, values := strings.Fields(lines[0]), strings.Fields(lines[1])
	for i, name := range names {
		for _, m := range ledgerField.FindAllStringSubmatch(source, -1) {
			if strings.EqualFold(m[1], strings.ReplaceAll(name, "_", "")) && i < len(values) {
				n, _ := strconv.Atoi(values[i])
				all = append(all, entry{name, n, m[2]})
			}
		}
	}
	return all
}

// drawLedger draws the hits that were entered on the left, and on the right where they went: bars are as high as there
// are hits.
func drawLedger(all []entry) *draw.Drawing {
	const left, right, bar, unit, gap = 200, 420, 24, 26, 2*draw.Row + 10
	d := draw.New("The ledger of a probe: where each hit went", 1160, "a return probe with room for two calls, on a function of the shell that calls itself; bars are as high as there are hits")
	if len(all) < 2 {
		return d // without words, which the test finds
	}
	entered, from, y := all[0], 30+3*draw.Row, 30+3*draw.Row
	d.Rect(left, from, bar, entered.hits*unit, "bar")
	d.Text(20, from+draw.Row, "head", entered.name+" "+strconv.Itoa(entered.hits))
	for i, line := range draw.Wrap(entered.says, draw.Letters(left-40)) {
		d.Text(20, from+(i+2)*draw.Row, "faint", line)
	}
	rest := 0
	for _, e := range all[1:] {
		high := e.hits * unit
		if e.hits > 0 {
			d.Rect(right, y, bar, high, "bar")
			d.Line(left+bar, from, right, y, "life")
			d.Line(left+bar, from+high, right, y+high, "life")
		} else {
			d.Line(right, y+draw.Row/2, right+bar, y+draw.Row/2, "life")
		}
		from, rest = from+high, rest+e.hits
		d.Text(right+bar+12, y+draw.Row-4, "head", e.name+" "+strconv.Itoa(e.hits))
		for i, line := range draw.Wrap(e.says, draw.Letters(1160-right-bar-170)) {
			d.Text(right+bar+150, y+(i+1)*draw.Row-4, "faint", line)
		}
		y += max(high, draw.Row) + gap/2
	}
	d.Text(right+bar+12, y+draw.Row-4, "jump", "unexplained "+strconv.Itoa(entered.hits-rest)+": what is entered and went nowhere. A number here would be a mistake of the kernel")
	d.Height = y + 2*draw.Row
	return d
}
