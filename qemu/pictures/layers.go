package main

import (
	"maps"
	"slices"
	"strings"

	"sonde/qemu/draw"
)

// A part is some layers of layers.txt that are one box: those whose packages begin with its folders.
type part struct {
	folders  []string
	is       string
	row, col int // from the top; the column is in halves of a box
}

var parts = []part{
	{[]string{"boot", "shell"}, "from power-on to the prompt; all commands", 0, 1},
	{[]string{"kprobes", "optprobe", "uprobes", "kwatch"}, "the kinds of probes, and jumps", 1, 2},
	{[]string{"trace", "tools"}, "bpftrace's language, and ready scripts", 1, 0},
	{[]string{"linux"}, "what unmodified programs need", 2, 2},
	{[]string{"probe"}, "what all probes share; events; eBPF at probes", 3, 1},
	{[]string{"kernel"}, "CPUs, interrupts, memory, code, files, modules", 4, 1},
	{[]string{"bpf", "gotypes"}, "eBPF: verifier and compiler; types", 5, 1},
	{[]string{"arch"}, "the processor: traps, instructions, ring 3", 6, 1},
}

const (
	boxWide = 380
	boxHigh = 54
	between = 36 // for an arrow
)

// imports reads from layers.txt which parts each part imports, without those that it gets by another one.
func imports(text string) [][]int {
	of := map[string]int{} // by the layer's name
	below := map[string][]string{}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		packages, names, _ := strings.Cut(rest, "<")
		// kernel/goruntime is below the processor's packages, which ask the Go runtime by it.
		if f := strings.Fields(packages); ok && !strings.ContainsAny(name, " #") && len(f) > 0 && name != "goruntime" {
			folder, _, _ := strings.Cut(f[0], "/")
			if i := slices.IndexFunc(parts, func(p part) bool { return slices.Contains(p.folders, folder) }); i >= 0 {
				of[name], below[name] = i, strings.Fields(names)
			}
		}
	}
	all := make([]map[int]bool, len(parts))
	for i := range all {
		all[i] = map[int]bool{}
	}
	for name, i := range of {
		for _, b := range below[name] {
			for other, j := range of {
				if i != j && (other == b || strings.HasPrefix(other, b+".")) {
					all[i][j] = true
				}
			}
		}
	}
	direct := make([][]int, len(parts))
	for i := range all {
		for j := range all[i] {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(all[i])), func(k int) bool { return reaches(all, k, j) }) {
				direct[i] = append(direct[i], j)
			}
		}
		slices.Sort(direct[i])
	}
	return direct
}

// reaches reports whether a part imports another one, also by others.
func reaches(all []map[int]bool, from, to int) bool {
	for next := range all[from] {
		if next == to || reaches(all, next, to) {
			return true
		}
	}
	return false
}

// drawLayers draws the parts of the tree, the lowest at the bottom, with an arrow to each that one imports.
func drawLayers(text string) *draw.Drawing {
	d := draw.New("The layers of the tree", 2*boxWide+60, "each part imports those that its arrows lead to, and what these import")
	d.Zoom = 1.2
	x := func(p part) int { return 20 + p.col*(boxWide+20)/2 }
	y := func(p part) int { return 30 + 2*draw.Row + p.row*(boxHigh+between) }
	for i, lead := range imports(text) {
		for _, j := range lead {
			from, to := parts[i], parts[j]
			side := (x(to) - x(from)) / 4 // so that arrows to a wide row are not one line
			d.Leads(x(from)+boxWide/2+side, y(from)+boxHigh, x(to)+boxWide/2-side, y(to))
		}
	}
	for _, p := range parts {
		d.Rect(x(p), y(p), boxWide, boxHigh, "box")
		d.Text(x(p)+12, y(p)+22, "head", strings.Join(p.folders, ", "))
		d.Text(x(p)+12, y(p)+42, "", p.is)
		d.Height = max(d.Height, y(p)+boxHigh+20)
	}
	return d
}
