package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"strconv"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/qemu/machine"
)

// colours say what an instruction is to a probe, by the letter of the command prove map.
var colours = []struct {
	letter byte
	means  string
	name   string
	c      color.RGBA
}{
	{'j', "a jump can stand there, or a breakpoint", "green", color.RGBA{60, 220, 90, 255}},
	{'b', "a breakpoint; a copy runs and jumps back", "blue", color.RGBA{70, 130, 255, 255}},
	{'s', "a breakpoint; a copy is single-stepped", "violet", color.RGBA{190, 90, 255, 255}},
	{'e', "a breakpoint; the instruction is emulated", "orange", color.RGBA{255, 170, 40, 255}},
	{'r', "a breakpoint; a branch whose target is set", "yellow", color.RGBA{255, 240, 70, 255}},
	{'d', "a breakpoint; a stack check that is decided", "cyan", color.RGBA{60, 230, 230, 255}},
	{'w', "a breakpoint within a stack check", "pale blue", color.RGBA{170, 210, 240, 255}},
	{'X', "refused: its function is blacklisted", "red", color.RGBA{255, 50, 50, 255}},
	{'R', "refused: it cannot be executed elsewhere", "white", color.RGBA{255, 255, 255, 255}},
	{'?', "a function that does not decode to its end", "grey", color.RGBA{128, 128, 128, 255}},
}

// width is that of the picture, in pixels.
const width = 1200

// A pixel is an instruction.
type pixel struct {
	letter  byte
	reached bool
}

// A view is what there is to see on a map.
type view struct {
	legend               string
	all, probed, reached int // instructions
	packages             map[string]share
	kernel               share // of the functions that an image without tests has
}

// drawMap asks the image for its map, and writes it to the file.
func drawMap(m *Machines, reached []uint64, path string) (view, error) {
	code, err := newCode(m.Image)
	if err != nil {
		return view{}, err
	}
	own, err := product()
	if err != nil {
		return view{}, err
	}
	slices.Sort(reached)
	var pixels []pixel
	var kernel share
	packages := map[string]share{}
	var o Outcome
	h, err := m.prove(context.Background(), machine.Config{}, silence, "map", &o, func(line string) {
		if f := strings.SplitN(line, " ", 4); len(f) == 4 && f[0] == "f" {
			addr, _ := strconv.ParseUint(f[1], 16, 64)
			more := code.pixels(addr, f[2], reached)
			pixels = append(pixels, more...)
			s := packages[packageOf(f[3])]
			s.add(more)
			packages[packageOf(f[3])] = s
			if own[f[3]] {
				kernel.add(more)
			}
		}
	})
	if err == nil && !h.ended {
		err = fmt.Errorf("prove: the map is not whole: %s", h.why)
	}
	if err != nil {
		return view{}, err
	}
	v := describe(pixels)
	v.packages, v.kernel = packages, kernel
	return v, paint(pixels, path)
}

// pixels are those of the function at addr, whose instructions have these letters.
func (c *code) pixels(addr uint64, letters string, reached []uint64) (all []pixel) {
	insn.Walk(c.at(addr), func(off int, _ insn.Inst) bool {
		if len(letters) == 0 {
			return false
		}
		_, hit := slices.BinarySearch(reached, addr+uint64(off))
		all = append(all, pixel{letters[0], hit})
		letters = letters[1:]
		return true
	})
	return all
}

// paint writes the picture.
func paint(pixels []pixel, path string) error {
	palette := color.Palette{color.RGBA{0, 0, 0, 255}}
	index := map[pixel]uint8{}
	for _, k := range colours {
		for _, hit := range []bool{true, false} {
			c := k.c
			if !hit && !refused(k.letter) {
				c.R, c.G, c.B = c.R*2/5, c.G*2/5, c.B*2/5
			}
			index[pixel{k.letter, hit}] = uint8(len(palette))
			palette = append(palette, c)
		}
	}
	img := image.NewPaletted(image.Rect(0, 0, width, (len(pixels)+width-1)/width), palette)
	for i, p := range pixels {
		img.Pix[i] = index[p]
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, img); err != nil {
		return err
	}
	return f.Close()
}

// refused reports whether instructions of that letter get no probe.
func refused(letter byte) bool { return letter == 'X' || letter == 'R' || letter == '?' }

// describe makes the legend, with numbers.
func describe(pixels []pixel) (v view) {
	all, hit := map[byte]int{}, map[byte]int{}
	for _, p := range pixels {
		all[p.letter]++
		v.all++
		if p.reached {
			hit[p.letter]++
			v.reached++
		}
		if !refused(p.letter) {
			v.probed++
		}
	}
	var b strings.Builder
	b.WriteString("| colour | what a probe on the instruction is | instructions | reached |\n|---|---|---:|---:|\n")
	for _, k := range colours {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", k.name, k.means, all[k.letter], hit[k.letter])
	}
	fmt.Fprintf(&b, "| | all | %d | %d |\n", v.all, v.reached)
	v.legend = b.String()
	return v
}
