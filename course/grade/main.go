package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sonde/internal/image"
)

// How a run ends, as exit status.
const (
	statusOK = iota
	statusPoints
	statusUsage
	statusBuild
	statusBusy
)

// options are the command line.
type options struct {
	root   string // of the tree
	lab    int
	in     string // the student's folder
	out    string // for logs
	hidden string // folder with N.story, or ""
	test   string // the only test to run, or ""
	class  string
	json   string
	csv    string
	watch  bool
	all    string // folder with a folder for each student, or ""
	settle string // folder to write the hidden tests of the class into, or ""
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(statusOK)
	}
	if err == nil {
		o.root, err = image.Root()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "grade:", err)
		os.Exit(statusUsage)
	}
	o.defaults()
	switch {
	case o.all != "":
		os.Exit((&scores{}).status(say(gradeAll(o, os.Stdout))))
	case o.settle != "":
		os.Exit((&scores{}).status(say(settle(o))))
	case o.watch:
		os.Exit(watch(o))
	}
	s, err := grade(o)
	if say(err) == nil {
		s.print(os.Stdout)
	}
	os.Exit(s.status(err))
}

// say prints an error, and returns it.
func say(err error) error {
	if err != nil {
		fmt.Fprintln(os.Stderr, "grade:", err)
	}
	return err
}

func parse(args []string, w io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("grade", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.IntVar(&o.lab, "lab", 0, "`number` of the lab")
	flags.StringVar(&o.in, "in", "", "the student's `folder` (default lab/N)")
	flags.StringVar(&o.out, "out", "", "put logs into this `folder` (default build/grade/N)")
	flags.StringVar(&o.hidden, "hidden", "", "run the hidden tests in this `folder`, too")
	flags.StringVar(&o.test, "test", "", "run only the test with this `name`")
	flags.StringVar(&o.class, "class", "", "`name` of the class, which chooses what is probed (default: what course/class.txt says)")
	flags.StringVar(&o.json, "json", "", "write the points into this `file`, as Gradescope reads them")
	flags.StringVar(&o.csv, "csv", "", "add a line for each test to this `file`")
	flags.BoolVar(&o.watch, "watch", false, "grade again whenever a file is saved, and show the first failure only")
	flags.StringVar(&o.all, "all", "", "grade the labs of all students: those in `folder`/NAME/N; -lab: only that one")
	flags.StringVar(&o.settle, "settle", "", "write the hidden tests of the class into this new `folder`")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.lab < 0 || o.lab == 0 && o.all == "" && o.settle == "" {
		return o, errors.New("give the number of the lab: LAB=1 behind make, -lab 1 behind this command")
	}
	return o, nil
}

// defaults fills in what was not given.
func (o *options) defaults() {
	n := strconv.Itoa(o.lab)
	if o.in == "" {
		o.in = filepath.Join("lab", n)
	}
	if o.out == "" {
		o.out = filepath.Join(o.root, "build", "grade", n)
		if o.all != "" {
			o.out = filepath.Join(o.root, "build", "grade", "all")
		}
	}
	if o.class == "" {
		text, _ := os.ReadFile(filepath.Join(o.root, "course", "class.txt")) // in students' copies
		o.class = strings.TrimSpace(string(text))
	}
}

// tests returns the tests that the options ask for, of a module that is loaded under a name.
func (o *options) tests(lab *Lab, module string) ([]Test, error) {
	tests, err := lab.readTests(filepath.Join(lab.Dir, "tests.story"), o.class, module, false)
	if err != nil {
		return nil, err
	}
	if o.hidden != "" {
		more, err := lab.readTests(filepath.Join(o.hidden, strconv.Itoa(o.lab)+".story"), o.class, module, true)
		if err != nil {
			return nil, err
		}
		tests = append(tests, more...)
	}
	if o.test == "" {
		return tests, nil
	}
	var ids []string
	for _, t := range tests {
		if t.ID == o.test {
			return []Test{t}, nil
		}
		ids = append(ids, t.ID)
	}
	return nil, fmt.Errorf("lab %d has no test %q; it has %s", o.lab, o.test, strings.Join(ids, ", "))
}

// grade builds and runs what the options say.
//
// Errors: ErrLeft, ErrBusy; others are about the lab's description or the machine.
func grade(o options) (*scores, error) {
	lab, err := readLab(o.root, o.lab)
	if err != nil {
		return nil, err
	}
	tests, err := o.tests(lab, lab.Module)
	if err != nil {
		return nil, err
	}
	s := &scores{options: o, lab: lab}
	version, err := goVersion(o.root)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.out, lab.Module)
	aside, err := lab.take(o.in, dir, version)
	s.aside = aside
	if err == nil {
		var g *grader
		g, err = lab.newGrader(&o, tests, dir)
		if err == nil && slices.ContainsFunc(tests, Test.needsKernel) {
			err = g.build(o.root, dir, o.in)
			if o.all != "" {
				defer os.Remove(g.kernel) // each student has one
			}
		}
		if err == nil {
			err = s.run(g, tests)
		}
	}
	if errors.Is(err, ErrLeft) {
		s.broken(tests, err)
		err = nil
	}
	if err != nil {
		return s, err
	}
	return s, s.write()
}

// run runs the tests.
func (s *scores) run(g *grader, tests []Test) error {
	if g.factor = measure(); g.factor > maxFactor {
		return fmt.Errorf("%w: it is %.0f times as slow as the reference", ErrBusy, g.factor)
	}
	for i := range tests {
		r, err := g.run(&tests[i])
		if err != nil {
			return err
		}
		s.results = append(s.results, r)
	}
	s.factor = g.factor
	return nil
}

// broken gives no points for any test, because the lab does not build.
func (s *scores) broken(tests []Test, why error) {
	s.unbuilt = strings.TrimPrefix(why.Error(), ErrLeft.Error()+": ")
	for i := range tests {
		s.results = append(s.results, &Result{Test: &tests[i], Outcome: NoBuild, Expected: "a module that builds", Got: s.unbuilt})
	}
}

// status is the exit status of a run that ended with err.
func (s *scores) status(err error) int {
	switch {
	case errors.Is(err, ErrBusy):
		return statusBusy
	case err != nil:
		return statusUsage
	case s.unbuilt != "":
		return statusBuild
	}
	for _, r := range s.results {
		if r.Outcome != OK {
			return statusPoints
		}
	}
	return statusOK
}
