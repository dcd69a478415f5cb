package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"sonde/qemu/machine"
)

// A test whose script is "host WORDS" runs on the host: the program in labs/N/host, which is built with
// the student's files in place of those of the starter, is run with these words. What it prints is its
// report, as the workload's is in the kernel. The student's code may import nothing by which it could
// print to the same place; what it prints by println goes to the log.
const onHost = "host "

func (t Test) onHost() bool { return strings.HasPrefix(t.Script, onHost) }

// needsKernel reports whether a kernel must be built for a test.
func (t Test) needsKernel() bool { return !t.onHost() || strings.Contains(t.Script, "{host.kernel}") }

// aside is the name under which a file for the host lies beside those for the kernel, where the go command
// does not see it.
func aside(name string) string { return "_" + name }

// buildHost builds the program in a lab's host folder with the files in dir, and again for Linux on
// x86-64 if the host is another.
//
// Errors: ErrLeft, with what the compiler says, or with the limit that it has met.
func (l *Lab) buildHost(root, dir, from string) (program, linux string, err error) {
	replace := map[string]string{}
	for _, name := range l.Host {
		replace[filepath.Join(l.Dir, "starter", name)] = filepath.Join(dir, aside(name))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	program, err = filepath.Abs(dir + ".host")
	overlay := program + ".json"
	if err = errors.Join(err, os.WriteFile(overlay, text, 0o644)); err != nil {
		return "", "", err
	}
	limit := compilers.scaled(measure())
	build := func(out string, env ...string) error {
		words := append(limit.words(), "go", "build", "-overlay", overlay, "-o", out, "./course/labs/"+strconv.Itoa(l.N)+"/host")
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
		if said, err := cmd.CombinedOutput(); err != nil {
			named := strings.ReplaceAll(string(said), filepath.Join("course", "labs", strconv.Itoa(l.N), "starter"), from)
			named = strings.ReplaceAll(theirs(named, dir, from), string(filepath.Separator)+aside(""), string(filepath.Separator))
			return fmt.Errorf("%w: %s", ErrLeft, limit.explain(withoutHeadings(named)))
		}
		return nil
	}
	if err := build(program); err != nil || runtime.GOOS+runtime.GOARCH == "linuxamd64" {
		return program, program, err
	}
	return program, program + ".elf", build(program+".elf", "GOOS=linux", "GOARCH=amd64")
}

// runHost runs the program for a test: in an empty folder, with an empty environment, for a limited time
// and, on Linux, with limited memory.
func (g *grader) runHost(t *Test) (*output, error) {
	dir, err := os.MkdirTemp(g.dir, "empty")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	limit := t.limit(g.factor)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append([]string{g.host}, strings.Fields(strings.TrimPrefix(t.Script, onHost))...)
	for i, a := range args {
		switch a { // programs that a test may name
		case "{host.self}":
			args[i] = g.linux
		case "{host.kernel}":
			args[i] = g.raw
		}
	}
	args = append(bound{memory: 1 << 20}.words(), args...)
	var report, log bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{}, &report, &log
	err = cmd.Run()
	o := &output{Result: machine.Result{Log: log.Bytes()}, work: report.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		o.late, o.Reason = limit, "your code was still running"
		return o, machine.ErrTimeout
	case errors.As(err, &exit):
		o.Crash, o.Reason = true, strings.Join(head(log.String(), 1), "")
	case err != nil:
		return nil, err
	}
	return o, nil
}

// head returns the first n lines.
func head(text string, n int) []string {
	lines := strings.Split(text, "\n")
	return lines[:min(n, len(lines))]
}
