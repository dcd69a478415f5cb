//go:build linux

package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sonde/internal/image"
)

// share is how many instructions of a package there are, and how many were executed with
// a probe.
type share struct{ all, reached int }

// mostPackages is how many lines the table has.
const mostPackages = 40

// packageOf returns the package of a function, by the linker's name for it; "type:" for what
// the compiler makes to compare types.
func packageOf(name string) string {
	if strings.HasPrefix(name, "type:") {
		return "type:"
	}
	name, _, _ = strings.Cut(name, "[") // what a generic function is made of
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}

// add adds the instructions of a function.
func (s *share) add(pixels []pixel) {
	s.all += len(pixels)
	for _, p := range pixels {
		if p.reached {
			s.reached++
		}
	}
}

// product returns the names of the functions of the image that users boot, without tests: what
// else the image with tests has is not the kernel's. It builds that image.
func product() (map[string]bool, error) {
	path, err := image.Build(image.BuildOptions{})
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("prove: %s: %w", path, err)
	}
	own := make(map[string]bool, len(syms))
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			own[s.Name] = true
		}
	}
	return own, nil
}

// packageTable lists the packages with the most instructions that were not reached, and the sum of
// all others.
func packageTable(all map[string]share) string {
	rest := func(name string) int { return all[name].all - all[name].reached }
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rest(b), rest(a)), strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("| package | instructions | executed with a probe | |\n|---|---:|---:|---:|\n")
	line := func(name string, s share) {
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", name, s.all, s.reached, percent(s.reached, s.all))
	}
	var others share
	for i, name := range names {
		if i < mostPackages {
			line(name, all[name])
			continue
		}
		others.all += all[name].all
		others.reached += all[name].reached
	}
	if n := len(names) - mostPackages; n > 0 {
		line(fmt.Sprintf("%d others", n), others)
	}
	return b.String()
}
