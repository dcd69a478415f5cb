package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

// A packed is a package or a folder of the proof run, and how many of its instructions were executed with a probe.
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
		if reached, err2 := strconv.Atoi(strings.TrimSpace(f[2])); err == nil && err2 == nil {
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

// folders are the packages by their first folder, the largest first; the runtime is one, the other libraries together
// are another.
func folders(packages []packed) (all []packed) {
	for _, p := range packages {
		name := "libraries"
		if path, ours := strings.CutPrefix(p.name, "sonde/"); ours {
			name, _, _ = strings.Cut(path, "/")
		} else if p.name == "main" {
			name = "boot"
		} else if p.name == "runtime" || strings.HasSuffix(p.name, " others") {
			name = p.name
		}
		i := slices.IndexFunc(all, func(f packed) bool { return f.name == name })
		if i < 0 {
			i, all = len(all), append(all, packed{name: name})
		}
		all[i].all, all[i].reached = all[i].all+p.all, all[i].reached+p.reached
	}
	slices.SortFunc(all, func(a, b packed) int { return cmp.Compare(b.all, a.all) })
	return all
}

// drawProof draws the folders of the proof run, each as large as it has instructions, filled from below as
// far as these were executed with a probe.
func drawProof(page string) *draw.Drawing {
	packages, ways := proofRows(page, packagesHead), proofRows(page, waysHead)
	_, of, _ := strings.Cut(page, "Made from commit ")
	of, _, _ = strings.Cut(of, ";")
	d := draw.New("The proof run: the code, by folders", mapWide+40, "commit "+of+"; one box for each folder, as large as it has instructions; filled: executed with a probe")
	all := 0
	for _, p := range packages {
		all += p.all
	}
	drawTile(d, folders(packages), 20, 30+2*draw.Row, mapWide, mapHigh, all)
	y := 30 + 2*draw.Row + mapHigh + 2*draw.Row
	drawScale(d, y, all)
	y += 2 * draw.Row
	for _, w := range ways {
		if w.all == 0 || w.name == "all" {
			continue
		}
		d.Rect(20, y-draw.Row+6, 300, draw.Row-6, "band")
		d.Rect(20, y-draw.Row+6, max(1, 300*w.reached/max(w.all, 1)), draw.Row-6, "bar")
		d.Text(330, y-2, "step", fmt.Sprintf("%7d  %s", w.all, w.name))
		d.Text(330+int(60*draw.Letter), y-2, "faint", fmt.Sprintf("%d executed", w.reached))
		y += draw.Row
	}
	d.Height = y
	return d
}

// drawScale draws what 10,000 instructions are.
func drawScale(d *draw.Drawing, y, all int) {
	const shown = 10_000
	area := float64(mapWide*mapHigh) * shown / float64(all)
	d.Rect(20, y-draw.Row, int(area/float64(2*draw.Row-8)), 2*draw.Row-8, "band")
	d.Text(30+int(area/float64(2*draw.Row-8)), y, "step", fmt.Sprintf("%d of %d instructions", shown, all))
}

// drawTile fills a rectangle with the folders, which have all instructions together: in two parts, and these
// the same way, across the longer side.
func drawTile(d *draw.Drawing, list []packed, x, y, w, h, all int) {
	if len(list) == 1 {
		drawFolder(d, list[0], x, y, w, h)
		return
	}
	n, part := 1, list[0].all
	for n < len(list)-1 && 2*(part+list[n].all) <= all {
		part += list[n].all
		n++
	}
	if w > h {
		left := w * part / all
		drawTile(d, list[:n], x, y, left, h, part)
		drawTile(d, list[n:], x+left, y, w-left, h, all-part)
		return
	}
	top := h * part / all
	drawTile(d, list[:n], x, y, w, top, part)
	drawTile(d, list[n:], x, y+top, w, h-top, all-part)
}

// drawFolder draws a folder, with its name if there is room.
func drawFolder(d *draw.Drawing, p packed, x, y, w, h int) {
	const edge = 2
	d.Rect(x, y, w-edge, h-edge, "band")
	if full := (h - edge) * p.reached / max(p.all, 1); full > 0 {
		d.Rect(x, y+h-edge-full, w-edge, full, "bar")
	}
	for i, line := range []string{p.name, fmt.Sprintf("%d %%", 100*p.reached/max(p.all, 1))} {
		if (i+1)*(draw.Row-5) < h && len(line) <= draw.Letters(float64(w-8)) {
			d.Text(x+4, y+(i+1)*(draw.Row-5), "step", line)
		}
	}
}
