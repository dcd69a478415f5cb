//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/qemu/machine"
)

// meanings say what an instruction is to a probe, by the letter of the command prove map.
var meanings = []struct {
	letter byte
	means  string
}{
	{'j', "a jump can stand there, or a breakpoint"},
	{'b', "a breakpoint; a copy runs and jumps back"},
	{'s', "a breakpoint; a copy is single-stepped"},
	{'e', "a breakpoint; the instruction is emulated"},
	{'r', "a breakpoint; a branch whose target is set"},
	{'d', "a breakpoint; a stack check that is decided"},
	{'w', "a breakpoint within a stack check"},
	{'X', "refused: its function is blacklisted"},
	{'R', "refused: it cannot be executed elsewhere"},
	{'?', "a function that does not decode to its end"},
}

// A pixel is an instruction on the map.
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

// readMap asks the image for its map.
func readMap(m *Machines, reached []uint64) (view, error) {
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
	return v, nil
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
	b.WriteString("| what a probe on the instruction is | instructions | reached |\n|---|---:|---:|\n")
	for _, k := range meanings {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", k.means, all[k.letter], hit[k.letter])
	}
	fmt.Fprintf(&b, "| all | %d | %d |\n", v.all, v.reached)
	v.legend = b.String()
	return v
}
