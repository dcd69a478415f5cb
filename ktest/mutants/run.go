package mutants

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	qemu "sonde/qemu/machine"
	"sonde/qemu/report"
)

// Verdict is what became of a mutant.
type Verdict string

const (
	Killed   Verdict = "killed"
	Survived Verdict = "survived"
	Broken   Verdict = "broken"
)

// Result is what a run says.
type Result struct {
	Verdict Verdict
	Why     string // the line of the test that failed, or what is broken
	Took    time.Duration
	Output  string // all of it
}

// limit is how long a build and a test may take; a test of the host's, hostLimit. A machine may take
// bootLimit until its case begins, and the case caseLimit, because a mutant may make it wait for ever.
// All are for a host that has nothing else to do (Patience of qemu/machine).
const (
	limit     = 10 * time.Minute
	hostLimit = 2 * time.Minute
	bootLimit = 3 * time.Minute
	caseLimit = 75 * time.Second
)

// Run makes m in the tree, runs its test, and takes m out again.
func (t *Tree) Run(ctx context.Context, m Mutant) (r Result) {
	start := time.Now()
	defer func() { r.Took = time.Since(start) }()
	if why := t.unsound(ctx, m.By); why != "" {
		return Result{Verdict: Broken, Why: why}
	}
	undo, err := t.mutate(m)
	if err != nil {
		return Result{Verdict: Broken, Why: err.Error()}
	}
	defer func() {
		err := undo()
		if err == nil {
			err = t.buildFor(m)
		}
		if err != nil {
			r = Result{Verdict: Broken, Why: err.Error()}
		}
	}()
	if err := t.buildFor(m); err != nil {
		return Result{Verdict: Broken, Why: err.Error()}
	}
	return t.Test(ctx, m.By)
}

// unsound says why a test of the host's shows nothing, "" if it passes in the tree as it
// is. Cases of the kernel's are taken to pass: each costs a boot.
func (t *Tree) unsound(ctx context.Context, by Test) string {
	if by.Case != "" {
		return ""
	}
	why, known := t.looked[by]
	if !known {
		if r := t.Test(ctx, by); r.Verdict != Survived {
			why = "without the mutant: " + r.Why
		}
		t.looked[by] = why
	}
	return why
}

// buildFor builds the launcher anew if m changes what the launcher puts into the image.
func (t *Tree) buildFor(m Mutant) error {
	if !strings.HasPrefix(m.In, "boot/overlay/") {
		return nil
	}
	return t.build()
}

// Test runs a test in the tree as it is.
func (t *Tree) Test(ctx context.Context, by Test) Result {
	ctx, cancel := context.WithTimeout(ctx, qemu.Patience(limit))
	defer cancel()
	if by.Case != "" {
		return t.kernel(ctx, by)
	}
	out, _ := t.run(ctx, "go", "test", "-v", "-vet=off", "-ldflags=-s -w", "-count=1", "-timeout", qemu.Patience(hostLimit).String(), "-run", "^"+by.Name+"$", "./"+by.Package)
	return judgeHost(by, out)
}

// judgeHost reads what go test has printed. A test that panics, or does not end, has
// failed.
func judgeHost(by Test, out string) Result {
	r := Result{Verdict: Broken, Output: out}
	switch lines := strings.Split(out, "\n"); {
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		r.Why = "it does not build: " + first(lines, ".go:")
	case strings.Contains(out, "no tests to run") || strings.Contains(out, "[no test files]"):
		r.Why = "there is no such test"
	case strings.Contains(out, "\n--- SKIP: "+by.Name+" "):
		r.Why = "it is skipped: " + first(lines, "_test.go:")
	case strings.HasPrefix(out, "ok") || strings.Contains(out, "\nok"):
		r.Verdict, r.Why = Survived, "the test passes"
	case strings.Contains(out, "\nFAIL") || strings.HasPrefix(out, "FAIL"):
		r.Verdict, r.Why = Killed, first(lines, "_test.go:", "panic:", "fatal error:", "FAIL")
	default:
		r.Why = last(lines)
	}
	return r
}

// kernel builds the test image and runs a case in it.
func (t *Tree) kernel(ctx context.Context, by Test) Result {
	accel := qemu.TCG
	if by.Stepped {
		accel = qemu.Stepped
	}
	boot, most := qemu.Patience(bootLimit), qemu.Patience(caseLimit)
	args := []string{"-test", "-accel", string(accel), "-smp", fmt.Sprint(by.CPUs), "-timeout", (boot + most).String(), "-c", "ktest " + by.Case}
	if by.Program != "" {
		bin, err := t.compile(ctx, by.Program)
		if err != nil {
			return Result{Verdict: Broken, Why: err.Error()}
		}
		args = append(args, "-add", bin+":/bin/"+by.Program)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, stdout := t.hear(ctx, &once{text: "=== " + by.Case, do: func() { time.AfterFunc(most, cancel) }}, t.tool, args...)
	return judgeCase(by, out, report.Parse(stdout))
}

// endings are in lines that tell how a machine ended, those that tell most first.
var endings = []string{"crashed (", "stopped: ", "timeout", "QEMU", "qemu:"}

// judgeCase reads what the case has printed: rep is of the standard output, out has the
// console as well. What a case leaves behind is its failure, too.
func judgeCase(by Test, out string, rep report.Report) Result {
	r := Result{Verdict: Broken, Output: out}
	lines := strings.Split(out, "\n")
	for _, c := range rep.Cases {
		if c.Name != by.Case {
			continue
		}
		switch c.Verdict {
		case report.Fail:
			r.Verdict, r.Why = Killed, c.Why
		case report.Unfinished:
			r.Verdict, r.Why = Killed, "the machine ends: "+first(lines, endings...)
		case report.Skip:
			r.Why = "it is skipped: " + c.Why
		default:
			r.Verdict, r.Why = Survived, "the case passes"
			if l := rep.Leaked(); len(l) > 0 {
				r.Verdict, r.Why = Killed, fmt.Sprintf("leaked %s: %d before, %d after", l[0].Name, l[0].Before, l[0].After)
			} else if rep.Summary == "" {
				r.Verdict, r.Why = Killed, "the machine ends behind it: "+first(lines, endings...)
			}
		}
		return r
	}
	if r.Why = first(lines, "does not build"); r.Why != "" {
		r.Why += " " + first(lines, ".go:", ".s:")
	} else {
		r.Why = "the case does not begin: " + last(lines)
	}
	return r
}

// compile makes one of the programs for tests, and returns its file.
func (t *Tree) compile(ctx context.Context, name string) (bin string, err error) {
	bin = filepath.Join(t.dir, "build", name)
	line := []string{"gcc", "-O1", "-pthread", "-w", "-static", "-o", bin, "qemu/testdata/programs/" + name + ".c"}
	if source := "qemu/testdata/programs/" + name + "/main.go"; exists(filepath.Join(t.dir, source)) {
		line = []string{"go", "build", "-o", bin, source}
	}
	out, _ := t.run(ctx, line[0], line[1:]...)
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("mutants: %s: %w: %s", name, err, out)
	}
	return bin, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// build makes the launcher. It is what all mutants are run by.
func (t *Tree) build() error {
	cmd := exec.Command("go", "build", "-o", t.tool, "./qemu")
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mutants: %w: %s", err, out)
	}
	return nil
}

// run runs a command in the tree, and returns all that it prints, and its standard
// output alone. At the end of ctx what it has started ends as well.
func (t *Tree) run(ctx context.Context, name string, args ...string) (all, stdout string) {
	return t.hear(ctx, io.Discard, name, args...)
}

// hear is run, and gives ear the standard output at once.
func (t *Tree) hear(ctx context.Context, ear io.Writer, name string, args ...string) (all, stdout string) {
	var both, out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, ear), &both
	ownGroup(cmd)
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		fmt.Fprintf(&both, "\n%s: stopped: it takes too long\n", filepath.Base(name))
	} else if err != nil {
		fmt.Fprintf(&both, "\n%s: %v\n", filepath.Base(name), err)
	}
	return out.String() + both.String(), out.String()
}

// once calls do when text has been written to it.
type once struct {
	text  string
	do    func()
	heard []byte
}

func (o *once) Write(p []byte) (int, error) {
	if o.do != nil {
		if o.heard = append(o.heard, p...); bytes.Contains(o.heard, []byte(o.text)) {
			o.do()
			o.do, o.heard = nil, nil
		}
	}
	return len(p), nil
}

// first returns the first line with one of words in it, and last the last that is not
// empty.
func first(lines []string, words ...string) string {
	for _, w := range words {
		for _, l := range lines {
			if strings.Contains(l, w) {
				return strings.TrimSpace(l)
			}
		}
	}
	return ""
}

func last(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" {
			return l
		}
	}
	return "it prints nothing"
}
