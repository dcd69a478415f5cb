package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/qemu/machine"
)

// An Outcome is how a test ended.
type Outcome string

// The outcomes of a test.
const (
	OK        Outcome = "ok"
	Fail      Outcome = "FAIL"
	NoBuild   Outcome = "does not build"
	Crashed   Outcome = "crashed"
	Abandoned Outcome = "abandoned"
	TooLong   Outcome = "too long"
)

// A Result is what became of a test.
type Result struct {
	Test     *Test
	Outcome  Outcome
	Points   int
	Expected string
	Got      string
	Tail     []string // the last lines of the log, if the kernel crashed
	Log      string   // a file with all that was printed
	Seconds  float64
}

// ErrBusy says that the machine is too slow to grade now.
var ErrBusy = errors.New("the machine is too busy to grade")

// A grader runs the tests of one build.
type grader struct {
	lab    *Lab
	dir    string // for logs
	kernel string
	host   string // the program for tests that run on the host
	linux  string // the same, for Linux on x86-64, if the host is another
	raw    string // the kernel as the linker has left it, with symbols
	factor float64
	module string // the name under which the module is loaded

	programs programs
	script   bool // the student's instrument is a script of bt
	answers  answers
	fault    map[string]string // what is known of the fault that the answers' seed stands for
	class    string
}

// newGrader builds what the tests need, but no kernel, out of the files in dir, which were taken from a
// folder.
//
// Errors: ErrLeft, with what the compiler says.
func (l *Lab) newGrader(o *options, tests []Test, dir string) (*grader, error) {
	g := &grader{lab: l, dir: filepath.Dir(dir), module: l.Module, class: o.class, answers: l.readAnswers(dir)}
	var err error
	if slices.ContainsFunc(tests, Test.onHost) {
		g.host, g.linux, err = l.buildHost(o.root, dir, o.in)
	}
	if err == nil {
		g.programs, err = l.buildPrograms(o.root, filepath.Join(o.root, "build", "grade", "programs", strconv.Itoa(l.N)))
	}
	if err == nil {
		err = g.readScript(dir)
	}
	if err == nil && l.Answer != "" {
		g.fault, err = about(o.root, g.answers["seed"])
	}
	return g, err
}

// run boots a kernel for a test. If the time is over, and the machine has become slower than it was,
// the test begins again.
//
// Errors: ErrBusy; QEMU does not run.
func (g *grader) run(t *Test) (*Result, error) {
	start := g.boot
	if t.onHost() {
		start = g.runHost
	}
	if strings.Contains(t.Script, askedSeed) {
		if expected, got := g.answers.doubt(g.class); expected != "" {
			return &Result{Test: t, Outcome: Fail, Expected: expected, Got: got}, nil
		}
	}
	if strings.Contains(t.Script, askedQuestion) {
		if expected, got := g.answers.unknown(); expected != "" {
			return &Result{Test: t, Outcome: Fail, Expected: expected, Got: got}, nil
		}
	}
	for {
		o, err := start(t)
		if errors.Is(err, machine.ErrTimeout) {
			if now := measure(); now > 1.5*g.factor {
				if g.factor = now; now > maxFactor {
					return nil, ErrBusy
				}
				continue
			}
		} else if err != nil && !(errors.Is(err, machine.ErrQEMU) && len(o.Log) > 0) {
			return nil, err // with ErrQEMU and a log, a module has ended QEMU as it liked
		}
		r := g.judge(t, o)
		r.Log = filepath.Join(g.dir, t.ID+".log")
		r.Seconds = o.Duration.Seconds()
		return r, os.WriteFile(r.Log, o.all(), 0o644)
	}
}

// output is all that a machine has said.
type output struct {
	machine.Result
	work string // on the workload's port
	late time.Duration
}

func (o *output) all() []byte {
	return fmt.Appendf(nil, "== console\n%s\n== output of the script\n%s\n== report of the workload\n%s", o.Log, o.Stdout, o.work)
}

// askedSeed stands in scripts for the seed among the answers.
const askedSeed = "{answer.seed}"

// boot runs a test's script. With ErrTimeout, the output is what there was until then.
func (g *grader) boot(t *Test) (*output, error) {
	port := filepath.Join(g.dir, t.ID+".work")
	if err := os.WriteFile(port, nil, 0o644); err != nil {
		return nil, err
	}
	limit := t.limit(g.factor)
	accel, cpus := machine.TCG, t.SMP
	if one(t.Story, "COUNTED") != "" {
		accel, cpus = machine.Counted, 1
	}
	r, err := machine.Run(context.Background(), machine.Config{
		Image: g.kernel, Accel: accel, SMP: cpus, Machine: t.Machine, Memory: t.Memory, Append: t.Append, Timeout: limit,
		Script: g.programs.place(g.measure(strings.ReplaceAll(t.Script, askedSeed, g.answers["seed"]))), Initrd: g.programs.archive,
		Extra: []string{"-chardev", "file,id=work,path=" + strings.ReplaceAll(port, ",", ",,"),
			"-device", fmt.Sprintf("isa-debugcon,iobase=%#x,chardev=work", workPort)},
	})
	o := &output{Result: r}
	if errors.Is(err, machine.ErrTimeout) {
		o.late = limit
	}
	said, readErr := os.ReadFile(port)
	o.work = string(said)
	return o, errors.Join(err, readErr)
}

// workPort is the I/O port of package sonde/course/load.
const workPort = 0x2e0

// gaveUp is what the kernel says when it ends a handler that breaks the rules.
var gaveUp = regexp.MustCompile(`handler of \S+ at \S+ abandoned: .*`)

// judge says what a run is worth.
func (g *grader) judge(t *Test, o *output) *Result {
	r := &Result{Test: t, Outcome: Fail}
	sentence, refused := gaveUp.FindString(string(o.Log)), g.refusedScript(string(o.Stdout))
	work, doubt := facts(o.work)
	want := strings.Count(t.Script, " do=")
	if t.onHost() {
		want = 1
	}
	switch {
	case o.late > 0:
		r.Outcome = TooLong
		r.Expected = fmt.Sprintf("an end within %.0f s", o.late.Seconds())
		r.Got = "none; " + o.Reason
	case o.Crash:
		r.Outcome, r.Expected, r.Got, r.Tail = Crashed, "a kernel that goes on", o.Reason, tail(string(o.Log), 12)
	case sentence != "":
		r.Outcome, r.Expected, r.Got = Abandoned, "handlers that keep the rules", sentence
	case refused != "":
		r.Expected, r.Got = "a script without mistakes", refused
	case doubt != "":
		r.Expected, r.Got = "one report of the workload", "two, about "+doubt
	case work.done != want:
		r.Expected = fmt.Sprintf("an end of all %d workloads", want)
		r.Got = fmt.Sprintf("%d ended; last on the console: %s", work.done, strings.Join(tail(string(o.Log), 1), ""))
	default:
		r.Expected, r.Got = g.compare(t, o, work)
		if r.Expected == "" {
			r.Outcome, r.Points = OK, t.Points
			return r
		}
		r.Tail = g.refusedModule(string(o.Stdout))
	}
	return r
}

// refusedModule returns what insmod has said about the student's module, if it did not load it.
func (g *grader) refusedModule(stdout string) []string {
	for line := range strings.Lines(stdout) {
		if what, found := strings.CutPrefix(line, "insmod: "); found && strings.Contains(what, g.module+":") {
			return []string{strings.TrimSpace(line)}
		}
	}
	return nil
}

// tail returns the last n lines.
func tail(text string, n int) []string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	return lines[max(0, len(lines)-n):]
}
