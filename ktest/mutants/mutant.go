package mutants

import (
	"fmt"
	"slices"
	"strings"
)

// A Mutant is a defect: in a declaration, Old becomes New. Old is short, so that little can change
// that has nothing to do with the defect.
type Mutant struct {
	Name     string
	In       string // folder and declaration: probe/attach.(*Link).Close
	Old, New string // Old is once in all declarations of that name
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
	{"registering", registering}, {"hits", hits}, {"nested", nested}, {"cameras", cameras}, {"returns", returns}, {"jumps", jumps}, {"fused", fused},
	{"assembly", assembly}, {"machine", machine}, {"images", images}, {"code", code}, {"points", points},
	{"programs", programs}, {"userprobes", userprobes}, {"traphits", trapHits}, {"data", callData}, {"watchpoints", watchpoints},
	{"memory", memory}, {"signals", signals}, {"jobs", jobs}, {"selects", selects}, {"places", places},
	{"calls", calls}, {"periods", periods}, {"short", short}, {"attached", attached}, {"typed", typed}, {"compiled", compiled}, {"verified", verified},
	{"kept", kept}, {"scripted", scripted},
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

// mutated returns the file that has the defect, by its path from root, and its text with it.
//
// Errors: the folder cannot be read; Old is not in the declaration exactly once.
func (m *Mutant) mutated(root string) (file, text string, err error) {
	folder, name := apart(m.In)
	all, err := declarations(root, folder)
	if err != nil {
		return "", "", err
	}
	found, named := 0, 0
	for _, d := range all {
		if d.name != name {
			continue
		}
		named++
		if n := strings.Count(d.own(), m.Old); n > 0 {
			found += n
			file, text = d.file, d.text[:d.begin]+strings.Replace(d.own(), m.Old, m.New, 1)+d.text[d.end:]
		}
	}
	if found != 1 || m.Old == m.New {
		return "", "", fmt.Errorf("mutants: %s: %q is %d times in the %d declarations %s, not once, or it is the new text", m.Name, m.Old, found, named, m.In)
	}
	return file, text, nil
}
