package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A packed is a package of the proof run, and how many of its instructions were executed with a probe.
type packed struct {
	name         string
	all, reached int
}

// proofRows reads the rows of two numbers that follow the table's head in docs/proof.md.
func proofRows(page, head string) (rows []packed) {
	_, rest, _ := strings.Cut(page, head)
	for line := range strings.Lines(rest) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(f) < 3 {
			break
		}
		all, err := strconv.Atoi(strings.TrimSpace(f[1]))
		reached, err2 := strconv.Atoi(strings.TrimSpace(f[2]))
		if err == nil && err2 == nil {
			rows = append(rows, packed{strings.TrimSpace(f[0]), all, reached})
		}
	}
	return rows
}

// Heads of the tables.
const (
	packagesHead = "| package | instructions | executed with a probe | |\n"
	waysHead     = "| what a probe on the instruction is | instructions | reached |\n"
)

// Sizes of the map.
const (
	mapWide = 1000
	mapHigh = 560
)

// drawProof draws the packages of the proof run, each as large as it has instructions, filled from below as
// far as these were executed with a probe.
func drawProof(page string) *drawing {
	packages, ways := proofRows(page, packagesHead), proofRows(page, waysHead)
	_, of, _ := strings.Cut(page, "Made from commit ")
	of, _, _ = strings.Cut(of, ";")
	d := &drawing{title: "The proof run: the code, by packages", width: mapWide + 40}
	d.text(20, 30, "head", d.title)
	d.text(20, 30+row, "faint", "commit "+of+"; one box for each package, as large as it has instructions; filled: executed with a probe")
	slices.SortFunc(packages, func(a, b packed) int { return cmp.Compare(b.all, a.all) })
	all := 0
	for _, p := range packages {
		all += p.all
	}
	d.tile(packages, 20, 30+2*row, mapWide, mapHigh, all)
	y := 30 + 2*row + mapHigh + 2*row
	d.scale(y, all)
	y += 2 * row
	for _, w := range ways {
		if w.all == 0 || w.name == "all" {
			continue
		}
		d.rect(20, y-row+6, 300, row-6, "band")
		d.rect(20, y-row+6, max(1, 300*w.reached/max(w.all, 1)), row-6, "bar")
		d.text(330, y-2, "step", fmt.Sprintf("%7d  %s", w.all, w.name))
		d.text(330+int(60*letter), y-2, "faint", fmt.Sprintf("%d executed", w.reached))
		y += row
	}
	d.height = y
	return d
}

// scale draws what 10,000 instructions are.
func (d *drawing) scale(y, all int) {
	const shown = 10_000
	area := float64(mapWide*mapHigh) * shown / float64(all)
	d.rect(20, y-row, int(area/float64(2*row-8)), 2*row-8, "band")
	d.text(30+int(area/float64(2*row-8)), y, "step", fmt.Sprintf("%d of %d instructions", shown, all))
}

// tile fills a rectangle with the packages, which have all instructions together: in two parts, and these
// the same way, across the longer side.
func (d *drawing) tile(list []packed, x, y, w, h, all int) {
	if len(list) == 1 {
		d.packageBox(list[0], x, y, w, h)
		return
	}
	n, part := 1, list[0].all
	for n < len(list)-1 && 2*(part+list[n].all) <= all {
		part += list[n].all
		n++
	}
	if w > h {
		left := w * part / all
		d.tile(list[:n], x, y, left, h, part)
		d.tile(list[n:], x+left, y, w-left, h, all-part)
		return
	}
	top := h * part / all
	d.tile(list[:n], x, y, w, top, part)
	d.tile(list[n:], x, y+top, w, h-top, all-part)
}

// packageBox draws a package, with its name as far as there is room.
func (d *drawing) packageBox(p packed, x, y, w, h int) {
	const edge = 2
	d.rect(x, y, w-edge, h-edge, "band")
	if full := (h - edge) * p.reached / max(p.all, 1); full > 0 {
		d.rect(x, y+h-edge-full, w-edge, full, "bar")
	}
	lines := []string{strings.TrimPrefix(p.name, "sonde/"), fmt.Sprintf("%d %%", 100*p.reached/max(p.all, 1))}
	for i, line := range lines {
		if len(line) > letters(float64(w-8)) {
			line = line[max(0, len(line)-letters(float64(w-8))):]
		}
		if (i+1)*(row-5) < h {
			d.text(x+4, y+(i+1)*(row-5), "step", line)
		}
	}
}
