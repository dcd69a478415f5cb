package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"sonde/qemu/draw"
)

// drawFlame writes the flame graph of a profile, which bt has printed in pprof's format, to the file of -o: a page if
// its name ends in .html, else a picture. It is compared with the profile in the file against, if that is not "".
//
// Errors: those of reading and writing.
func drawFlame(text []byte, title, against, out string) error {
	f := draw.Flame{Root: &draw.Frame{Name: "all", Kind: draw.Label}, Title: title, Unit: "samples", Compared: against != ""}
	if err := addStacks(f.Root, text, false); err != nil {
		return err
	}
	if f.Compared {
		before, err := os.ReadFile(against)
		if err == nil {
			err = addStacks(f.Root, before, true)
		}
		if err != nil {
			return fmt.Errorf("-against %s: %w", against, err)
		}
	}
	var b bytes.Buffer
	write := f.SVG
	if path.Ext(out) == ".html" {
		write = f.HTML
	}
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// addStacks counts the stacks of a profile.
func addStacks(root *draw.Frame, text []byte, before bool) error {
	p, err := profile.ParseData(text)
	if err != nil {
		return err
	}
	for _, s := range p.Sample {
		var stack []draw.Frame
		for _, key := range slices.Sorted(maps.Keys(s.Label)) {
			stack = append(stack, draw.Frame{Name: strings.Join(s.Label[key], " "), Kind: draw.Label})
		}
		for _, l := range slices.Backward(s.Location) {
			name := l.Line[0].Function.Name
			stack = append(stack, draw.Frame{Name: name, Kind: kindOf(name, cmp.Or(l.Mapping, &profile.Mapping{}).File)})
		}
		root.Count(stack, s.Value[0], before)
	}
	return nil
}

// kindOf tells whose code a function is, by the file that it is in.
func kindOf(function, file string) draw.Kind {
	switch {
	case strings.HasPrefix(function, "cpu.haltOnce"):
		return draw.Idle
	case file == "[kernel]":
		return draw.Kernel
	case file == "[vdso]" || strings.Contains(path.Base(file), ".so"):
		return draw.Library
	}
	return draw.Program
}
