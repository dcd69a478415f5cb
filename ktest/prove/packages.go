package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// tests is how the names of the packages begin that only an image with tests has.
const tests = "sonde/ktest/suites"

// withoutTests returns the sum of all packages but those of tests.
func withoutTests(all map[string]share) (sum share) {
	for name, s := range all {
		if !strings.HasPrefix(name, tests) {
			sum.all += s.all
			sum.reached += s.reached
		}
	}
	return sum
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
