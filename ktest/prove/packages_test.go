//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc":                    "runtime",
		"sonde/kernel/vfs.(*File).Read.func1": "sonde/kernel/vfs",
		"slices.insertionSortCmpFunc[go.shape.struct { sonde/kernel/mm.a int }]": "slices",
		"golang.org/x/arch/x86/x86asm.Decode":                                    "golang.org/x/arch/x86/x86asm",
		"type:.eq.sonde/kernel/vfs.T":                                            "type:",
		"memeqbody":                                                              "memeqbody",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPackageTable: what lacks most comes first, and nothing is left out.
func TestPackageTable(t *testing.T) {
	all := map[string]share{}
	for i := range mostPackages + 2 {
		s := all[fmt.Sprint("p", i)]
		s.add(make([]pixel, i))
		s.add([]pixel{{reached: true}})
		all[fmt.Sprint("p", i)] = s
	}
	lines := strings.Split(strings.TrimSpace(packageTable(all)), "\n")
	if len(lines) != 2+mostPackages+1 || lines[2] != "| p41 | 42 | 1 | 2.4 % |" || lines[len(lines)-1] != "| 2 others | 3 | 2 | 66.7 % |" {
		t.Errorf("%d lines, %q, %q", len(lines), lines[2], lines[len(lines)-1])
	}
}

// TestTestsAreNoPartOfTheKernel: functions that only an image with tests has are not the product's.
func TestTestsAreNoPartOfTheKernel(t *testing.T) {
	own, err := product()
	if err != nil {
		t.Fatal(err)
	}
	if !own["sonde/kernel/vfs.Read"] || !own["runtime.mallocgc"] {
		t.Errorf("vfs.Read or mallocgc is missing among %d functions", len(own))
	}
	for name := range own {
		if strings.HasPrefix(name, "sonde/ktest") {
			t.Errorf("%s is the product's", name)
		}
	}
}
