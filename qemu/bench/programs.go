package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// Programs: the cost of an operating system's primitives for a program. One static program,
// testdata/ubench.c, measures it by itself; the same file can run on Linux under the same QEMU, so
// the two can be compared.
//
// A figure is the least of all rounds of all boots: nothing makes a round faster, and many things
// make it slower. The ratio to a peer is corrected by the control rows of both, plain arithmetic
// and copying, which do not depend on the kernel.

// controls are rows that do not depend on the kernel.
var controls = []string{"alu", "copy_words_kib"}

const source = "qemu/bench/testdata/ubench.c"

// round is the length of a round, in whole milliseconds. Short rounds, in several boots, are more
// likely to find quiet moments; a fork takes half a millisecond.
var round = 60 * time.Millisecond

// programs measures the given rows, or all, on one processor and on two, n boots each.
func programs(n int, peer figures, rows []string) error {
	for _, smp := range []int{1, 2} {
		c, remove, err := programConfig(smp, int(round.Milliseconds()), rows)
		if err != nil {
			return err
		}
		defer remove()
		var all results
		for range n {
			if err := all.boot(c); err != nil {
				return err
			}
		}
		all.print(os.Stdout, smp, peer)
	}
	return nil
}

// countPrograms prints the rows in instructions per operation.
func countPrograms(w io.Writer, rows []string) error {
	var all results
	err := all.count(rows)
	if err == nil {
		all.print(w, 1, nil)
	}
	return err
}

// count adds the rounds of one boot, in instructions.
func (all *results) count(rows []string) error {
	const ms = 5 // each instruction is a nanosecond
	c, remove, err := programConfig(1, ms, rows)
	if err != nil {
		return err
	}
	defer remove()
	c.Accel = machine.Counted
	return all.boot(c)
}

// programConfig is a machine that runs rounds of the given rows, each so many milliseconds long,
// and then stops. The caller calls remove.
func programConfig(smp, ms int, rows []string) (c machine.Config, remove func(), err error) {
	dir, err := os.MkdirTemp("", "sonde-bench")
	if err != nil {
		return c, nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	c = machine.Config{SMP: smp, Timeout: limit, Initrd: filepath.Join(dir, "initrd"),
		Script: fmt.Sprintf("ubench -v -t %d %s", ms, strings.Join(rows, " "))}
	if c.Image, err = kernel(); err == nil {
		err = archive(dir, c.Initrd)
	}
	if err != nil {
		remove()
	}
	return c, remove, err
}

// archive builds ubench in dir, and writes an archive with it and the shell that its row
// sh_100_true_ms starts, which is the same as on Linux.
func archive(dir, out string) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "ubench")
	gcc := exec.Command("gcc", "-O2", "-static", "-pthread", "-o", program, filepath.Join(strings.TrimSpace(string(root)), source))
	if text, err := gcc.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", gcc, err, text)
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return fmt.Errorf("%w: run make setup", err)
	}
	var a initrd.Archive
	for _, spec := range []string{program + ":/bin/ubench", busybox + ":/bin/sh", busybox + ":/bin/true"} {
		if err := a.Add(spec); err != nil {
			return err
		}
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = a.WriteTo(f)
	return err
}

// results are the rounds of rows, in order.
type results struct {
	names  []string
	rounds map[string][]float64
	failed map[string]string // the reason
}

// boot adds the results of one run of the machine.
func (all *results) boot(c machine.Config) error {
	r, err := machine.Run(context.Background(), c)
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("status %d: %s", r.Status, r.Reason)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, r.Stdout)
	}
	all.parse(string(r.Stdout))
	return nil
}

// parse reads lines "# ROW n=COUNT ROUND...", and "ROW<TAB>FAIL REASON".
func (all *results) parse(text string) {
	if all.rounds == nil {
		all.rounds, all.failed = map[string][]float64{}, map[string]string{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, why, ok := strings.Cut(line, "\tFAIL "); ok {
			all.add(name)
			all.failed[name] = why
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "#" || !strings.HasPrefix(fields[2], "n=") {
			continue
		}
		all.add(fields[1])
		for _, f := range fields[3:] {
			if v, err := strconv.ParseFloat(f, 64); err == nil {
				all.rounds[fields[1]] = append(all.rounds[fields[1]], v)
			}
		}
	}
}

func (all *results) add(name string) {
	if !slices.Contains(all.names, name) {
		all.names = append(all.names, name)
	}
}

// least returns the figure of a row, 0 if there is none.
func (all *results) least(name string) float64 {
	if len(all.rounds[name]) == 0 {
		return 0
	}
	return slices.Min(all.rounds[name])
}

// host returns how many times slower than the peer's the host is.
func (all *results) host(prefix string, peer figures) float64 {
	product, n := 1.0, 0
	for _, name := range controls {
		if ours, theirs := all.least(name), peer[prefix+name]; ours > 0 && theirs > 0 {
			product *= ours / theirs
			n++
		}
	}
	return math.Pow(product, 1/float64(max(n, 1)))
}

// print formats the rows as line does, but corrects the ratio.
func (all *results) print(w io.Writer, smp int, peer figures) {
	prefix := fmt.Sprintf("smp%d/", smp)
	host := all.host(prefix, peer)
	for _, name := range all.names {
		if why := all.failed[name]; why != "" {
			fmt.Fprintf(w, "%s%s\tFAIL %s\n", prefix, name, why)
			continue
		}
		v := all.least(name)
		columns := []string{prefix + name, figure(v)}
		if p := peer[prefix+name]; p > 0 && slices.Contains(controls, name) {
			columns = append(columns, figure(p), fmt.Sprintf("%.2f", v/p))
		} else if p > 0 {
			columns = append(columns, figure(p), fmt.Sprintf("%.2f", v/p/host))
		} else if peer != nil {
			columns = append(columns, "-", "-")
		}
		spread := fmt.Sprintf("%s..%s", figure(v), figure(slices.Max(all.rounds[name])))
		fmt.Fprintln(w, strings.Join(append(columns, spread), "\t"))
	}
}

// figure formats a number with three significant digits.
func figure(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
