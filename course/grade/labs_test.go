package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	maxFactor = 1000
	os.Exit(m.Run())
}

// brief reports whether only what make test has time for is to run: see the Makefile.
func brief() bool { return os.Getenv("SONDE_BRIEF") != "" }

// testsOf returns all tests of a lab, the hidden ones too.
func testsOf(t *testing.T, l *Lab, class, module string) []Test {
	t.Helper()
	o := options{root: rootOf(t), lab: l.N, class: class, hidden: filepath.Join(rootOf(t), "course", "hidden")}
	tests, err := o.tests(l, module)
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// TestLabsAreWhole: each lab has what a lab must have, and its parts agree.
func TestLabsAreWhole(t *testing.T) {
	for _, l := range labsHere(t) {
		visible, hidden, n := 0, 0, 0
		ids := map[string]int{}
		for _, test := range testsOf(t, l, "", l.Module) {
			if ids[test.ID] = test.Points; test.Hidden {
				n++
				hidden += test.Points
			} else {
				visible += test.Points
			}
			if hints := l.hints(test.ID); len(hints) != 3 {
				t.Errorf("lab %d: %d hints for %s, want 3", l.N, len(hints), test.ID)
			}
			if one(test.Story, "READ") == "" {
				t.Errorf("lab %d: %s does not say where to read", l.N, test.ID)
			}
		}
		want := fmt.Sprintf("%d tests, %d points", n, hidden)
		if want = strings.Replace(want, "1 tests", "1 test", 1); l.Hidden != want {
			t.Errorf("lab %d: HIDDEN says %q, want %q", l.N, l.Hidden, want)
		}
		if l.Start > visible/2 {
			t.Errorf("lab %d: the starter gets %d of %d points", l.N, l.Start, visible)
		}
		l.filesIn(t, filepath.Join(l.Dir, "starter"))
		l.checkGiven(t)
		checkWrong(t, l, ids)
		for _, page := range []string{"README.md", "introduction.md"} {
			if _, err := os.Stat(filepath.Join(l.Dir, page)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestForgottenProbes: tests that look for what a module has forgotten look for what the kernel says.
func TestForgottenProbes(t *testing.T) {
	kernel, err := os.ReadFile(filepath.Join(rootOf(t), "kernel", "module", "owner.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(kernel), `printk.Warn("`)
	said, _, _ = strings.Cut(said, `"`)
	for _, l := range labsHere(t) {
		found := false
		for _, test := range testsOf(t, l, "", l.Module) {
			for _, re := range test.ExpectNot {
				found = found || re.MatchString(said)
			}
		}
		if !found && l.hasModule() {
			t.Errorf("lab %d: no test fails if the kernel says %q", l.N, said)
		}
	}
}

// checkGiven: the solution has the files that students are given as they are.
func (l *Lab) checkGiven(t *testing.T) {
	t.Helper()
	for _, name := range l.Given {
		theirs, err1 := os.ReadFile(filepath.Join(l.Dir, "starter", name))
		ours, err2 := os.ReadFile(filepath.Join(rootOf(t), "course", "solutions", strconv.Itoa(l.N), name))
		if err1 != nil || err2 != nil || string(theirs) != string(ours) {
			t.Errorf("lab %d: the starter's %s and the solution's differ: %v %v", l.N, name, err1, err2)
		}
	}
}

// checkWrong: there are eight wrong solutions at least, each fails in tests that there are, and one
// looks right in the visible tests.
func checkWrong(t *testing.T, l *Lab, ids map[string]int) {
	t.Helper()
	visible := map[string]bool{}
	for _, test := range testsOf(t, l, "", l.Module) {
		visible[test.ID] = !test.Hidden
	}
	wrong, looksRight := l.wrong(t), false
	for _, v := range wrong {
		hiddenOnly := true
		for id := range v.fails {
			if ids[id] == 0 {
				t.Errorf("lab %d: %s fails %s, which is no test", l.N, v.name, id)
			}
			hiddenOnly = hiddenOnly && !visible[id]
		}
		looksRight = looksRight || hiddenOnly
	}
	if len(wrong) < 8 || !looksRight {
		t.Errorf("lab %d: %d wrong solutions, of which one looks right: %v", l.N, len(wrong), looksRight)
	}
}

// kernelWith builds a kernel with variants of a lab, and returns a grader for each.
func kernelWith(t *testing.T, l *Lab, name string, list []variant) []*grader {
	t.Helper()
	root := rootOf(t)
	out := filepath.Join(root, "build", "grade", "_"+name+strconv.Itoa(l.N))
	dir := filepath.Join(out, "variants")
	modules := l.lay(t, dir, list)
	all := &grader{lab: l, factor: measure()}
	if err := all.build(root, dir, dir); err != nil {
		t.Fatal(err)
	}
	var graders []*grader
	for _, m := range modules {
		graders = append(graders, l.graderIn(t, all, filepath.Join(out, m), filepath.Join(dir, m)))
	}
	return graders
}

// graderIn returns the grader of a variant that lies in a folder whose name is the module's, and is in the
// kernel of all.
func (l *Lab) graderIn(t *testing.T, all *grader, own, dir string) *grader {
	t.Helper()
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	m := filepath.Base(dir)
	g, err := l.newGrader(&options{root: rootOf(t), in: l.Module}, hostTests(testsOf(t, l, "", m)), dir)
	if err != nil {
		t.Fatal(err)
	}
	g.dir, g.kernel, g.raw, g.factor, g.module = own, all.kernel, all.raw, all.factor, m
	return g
}

// solved are the graders of all solutions, by their names. One kernel has the modules of those that are
// called like their lab; it is built once.
var solved map[string]*grader

// solvers returns the graders of a lab's solutions.
func (l *Lab) solvers(t *testing.T) (graders []*grader) {
	t.Helper()
	if solved == nil {
		solveAll(t)
	}
	for _, name := range slices.Sorted(maps.Keys(l.solutions(t))) {
		graders = append(graders, solved[name])
	}
	return graders
}

func solveAll(t *testing.T) {
	t.Helper()
	out := filepath.Join(rootOf(t), "build", "grade", "_solutions")
	first, others := filepath.Join(out, "variants"), filepath.Join(out, "others")
	clean(t, first)
	clean(t, others)
	dirs := map[string]string{}
	for _, l := range labsHere(t) {
		for name, files := range l.solutions(t) {
			if dirs[name] = filepath.Join(first, l.Module); name != strconv.Itoa(l.N) {
				dirs[name] = filepath.Join(others, name, l.Module)
			}
			l.layOne(t, dirs[name], l.Module, variant{name: name, files: files})
		}
	}
	if err := os.CopyFS(filepath.Join(first, "opens"), os.DirFS(filepath.Join(rootOf(t), "course", "porting"))); err != nil {
		t.Fatal(err)
	}
	all := &grader{lab: &Lab{Files: []string{"all.go"}}}
	if err := all.build(rootOf(t), first, first); err != nil {
		t.Fatal(err)
	}
	solved = map[string]*grader{"": all}
	for _, l := range labsHere(t) {
		for name := range l.solutions(t) {
			solved[name] = l.graderIn(t, all, filepath.Join(out, name), dirs[name])
		}
	}
}

// hostTests are those that run on the host: for the others, one kernel has all modules.
func hostTests(tests []Test) (host []Test) {
	for _, t := range tests {
		if t.onHost() {
			host = append(host, t)
		}
	}
	return host
}

// speed is how slow this machine is, measured once. Tests that must pass get four times as long: others run beside them.
var speed = sync.OnceValue(func() float64 { return 4 * measure() })

// everyThird reports whether a test of a lab is among those that make test runs; make long runs all.
func everyThird(l *Lab, i int) bool { return (l.N+i)%3 == 0 }

// TestSolutions: each solution gets all points, for three classes, on 1, 2 and 4 CPUs at least. In brief, every third
// test of each lab is run, for one class.
func TestSolutions(t *testing.T) {
	if testing.Short() {
		t.Skip("boots")
	}
	solveAll(t) // once, for all labs
	for _, l := range labsHere(t) {
		t.Run(strconv.Itoa(l.N), func(t *testing.T) {
			t.Parallel()
			l.solve(t, "autumn", 2)
			if !brief() {
				l.solve(t, "", 1)
				l.solve(t, "spring", 4)
			}
		})
	}
}

// TestSolutionsOnABusyMachine: so it does beside two loops that never wait.
func TestSolutionsOnABusyMachine(t *testing.T) {
	if testing.Short() || brief() {
		t.Skip("boots, for some minutes")
	}
	for range 2 {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			loop.Process.Kill()
			loop.Wait()
		})
	}
	for _, l := range labsHere(t) {
		t.Run(strconv.Itoa(l.N), func(t *testing.T) { l.solve(t, "spring", 2) })
	}
}

// solve runs all tests of a class with each solution, on so many CPUs at least.
func (l *Lab) solve(t *testing.T, class string, cpus int) {
	t.Helper()
	for _, g := range l.solvers(t) {
		g.factor = speed()
		g.answersOf(t, class)
		for i, test := range testsOf(t, l, class, g.module) {
			if brief() && !everyThird(l, i) {
				continue
			}
			test.SMP = max(test.SMP, cpus)
			expect(t, g, &test, "solution", OK)
		}
	}
}

// answersOf makes the solution's answers those for a class, in a file such as answer-autumn.txt, if there
// is one.
func (g *grader) answersOf(t *testing.T, class string) {
	t.Helper()
	own := *g.lab
	own.Answer = strings.TrimSuffix(own.Answer, ".txt") + "-" + class + ".txt"
	if a := own.readAnswers(filepath.Join(rootOf(t), "course", "solutions", strconv.Itoa(own.N))); len(a) > 0 {
		var err error
		if g.fault, err = about(rootOf(t), a["seed"]); err != nil {
			t.Fatal(err)
		}
		g.answers = a
	}
	g.class = class
}

// expect runs a test and reports if it does not end as it should.
func expect(t *testing.T, g *grader, test *Test, who string, want Outcome) {
	t.Helper()
	r, err := g.run(test)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != want || (r.Points == test.Points) != (want == OK) {
		t.Errorf("lab %d: %s, %s on %d CPUs: %s with %d points, want %s\nexpected %s\ngot %s\n%s", g.lab.N, who, test.ID, test.SMP, r.Outcome, r.Points, want,
			r.Expected, r.Got, strings.Join(r.Tail, "\n"))
	}
}

// TestStartersAndWrongSolutions: each gets the points that it must get, and fails in the tests that
// it must fail in.
func TestStartersAndWrongSolutions(t *testing.T) {
	if testing.Short() || brief() {
		t.Skip("boots, for some minutes")
	}
	for _, l := range labsHere(t) {
		t.Run(strconv.Itoa(l.N), func(t *testing.T) {
			t.Parallel() // most machines have one CPU
			startersAndWrong(t, l)
		})
	}
}

func startersAndWrong(t *testing.T, l *Lab) {
	list := l.wrong(t)
	starter := variant{name: "starter", files: l.filesIn(t, filepath.Join(l.Dir, "starter"))}
	graders := kernelWith(t, l, "wrong", append(slices.Clone(list), starter))
	for i, v := range list {
		for _, test := range testsOf(t, l, "", graders[i].module) {
			want, fails := v.fails[test.ID]
			if !fails {
				want = OK
			}
			expect(t, graders[i], &test, v.name, want)
		}
	}
	points := 0
	last := graders[len(list)]
	for _, test := range testsOf(t, l, "", last.module) {
		r, err := last.run(&test)
		if err != nil {
			t.Fatal(err)
		}
		points += r.Points
	}
	if points != l.Start {
		t.Errorf("lab %d: the starter gets %d points, lab.txt says %d", l.N, points, l.Start)
	}
}
