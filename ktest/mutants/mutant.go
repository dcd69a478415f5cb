package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Mutant is a defect: in File, whose path is from the root of the tree, Old becomes New.
type Mutant struct {
	Name     string
	File     string
	Old, New string
	By       Test   // what must fail
	Why      string // what goes wrong
}

// A Test is one of the host's, or a case of the kernel's.
type Test struct {
	Package, Name string // of the host's: go test ./Package -run ^Name$

	Case    string // of the kernel's: ktest Case
	CPUs    int
	Stepped bool   // interrupts come at each instruction: machine.Stepped
	Program string // a program of qemu/testdata/programs that the case needs
}

// host is a test of package pkg.
func host(pkg, name string) Test { return Test{Package: pkg, Name: name} }

// kernel is a case, on so many CPUs.
func kernel(cpus int, name string) Test { return Test{Case: name, CPUs: cpus} }

// stepped is kernel for what is noticed only if an interrupt comes between two instructions of a few.
func stepped(cpus int, name string) Test { return Test{Case: name, CPUs: cpus, Stepped: true} }

// program is a case that runs a program.
func program(cpus int, name, program string) Test {
	return Test{Case: name, CPUs: cpus, Program: program}
}

// String names the test as people look for it.
func (t Test) String() string {
	if t.Case != "" {
		return fmt.Sprintf("%s, SMP %d", t.Case, t.CPUs)
	}
	return t.Package + "." + t.Name
}

// lists are the mutants by what they are in: a file of this package each.
var lists = []struct {
	name    string
	mutants []Mutant
}{
	{"registering", registering}, {"hits", hits}, {"nested", nested}, {"cameras", cameras}, {"returns", returns}, {"jumps", jumps},
	{"assembly", assembly}, {"machine", machine}, {"images", images}, {"code", code}, {"points", points},
	{"programs", programs}, {"userprobes", userprobes}, {"traphits", trapHits}, {"data", callData}, {"watchpoints", watchpoints},
	{"memory", memory}, {"signals", signals}, {"jobs", jobs}, {"selects", selects}, {"places", places},
	{"calls", calls}, {"periods", periods}, {"short", short}, {"attached", attached}, {"typed", typed}, {"compiled", compiled}, {"verified", verified},
}

// List returns all mutants.
func List() (all []Mutant) {
	for _, l := range lists {
		all = append(all, l.mutants...)
	}
	return all
}

// Matching returns the mutants of which one of words is the list, or the beginning of the
// name; "all" is the beginning of each.
func Matching(words ...string) (some []Mutant) {
	for _, l := range lists {
		for _, m := range l.mutants {
			if slices.ContainsFunc(words, func(w string) bool { return w == "all" || w == l.name || strings.HasPrefix(m.Name, w) }) {
				some = append(some, m)
			}
		}
	}
	return some
}

// mutated returns the text of the file, in the tree at root, with the defect.
//
// Errors: the file cannot be read, or Old is not in it exactly once.
func (m *Mutant) mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 || m.Old == m.New {
		return "", fmt.Errorf("mutants: %s: the old text is %d times in %s, not once, or it is the new one", m.Name, n, m.File)
	}
	return strings.Replace(string(text), m.Old, m.New, 1), nil
}
