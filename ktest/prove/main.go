//go:build linux

// Command prove shows that no probe anywhere harms the kernel. It makes docs/proof.md, with
// the table and the map.
//
//	go run ./ktest/prove                 all parts, and the page; continues where it was stopped
//	go run ./ktest/prove -part functions,blacklist
//	go run ./ktest/prove -shard 1/4      every fourth unit, from the first: for several hosts or terminals
//	go run ./ktest/prove -page           the page of what has been run, and nothing else
//
// A part consists of units of work that take seconds to minutes. Results are kept in
// build/prove, for the image that was run and this program: any change of the kernel starts
// anew. The results of mutants are kept for the sources, which include their tests. A
// mutant whose test was skipped is run again each time.
//
// The page is written when all units of all parts have been run. A run of some parts, or of a shard,
// prints its table instead and does not write the page. With -page it is written from the units that
// have been run, and says of which parts units are missing.
//
// The exit status is 1 if something is wrong, 2 for wrong arguments, 71 if a unit could
// not be run.
//
// # Decisions
//
// The proof run compares with a real processor. To execute an instruction a second time in the
// machine, in another way, would compare two mechanisms of our own. Instead, the handler notes
// registers, flags and the memory that the instruction names, before it and at the next hit. The
// host then executes the original instruction at its own address, in a traced process that has the
// kernel's code. Not compared: flags that the manual leaves undefined, where QEMU and processors
// differ; what a stack check leaves beside the two flags its branch uses, and R12 and the flags
// after a detour that made the check, which Go never reads; what lies below SP.
//
// Code that the work does not reach is tried on the host. Each different encoding and each region
// of the image is executed from random states, in place and in each of its copies (make prove,
// part encodings). This finds faults in copies that none of our work reaches.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

// parts are the proof, in the order in which they run and stand on the page.
var parts = []Part{functions, instructions, wide, encodings, blacklist, storms, hostile, mutations}

type options struct {
	parts      []Part
	shard, of  int
	atATime    int
	deep       bool
	list, page bool
	again      bool
}

const statusFound = 1

func main() {
	opts, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(machine.StatusUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	findings, err := prove(ctx, opts, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(machine.StatusQEMU)
	}
	if findings > 0 {
		fmt.Fprintf(os.Stderr, "prove: %d findings\n", findings)
		os.Exit(statusFound)
	}
}

// usage is what -h prints in front of the options.
const usage = `usage: go run ./ktest/prove [options]

Puts probes on everything in the kernel, compares how it behaves, and writes docs/proof.md. A run that
was stopped continues with the next one.

`

func parse(args []string, w io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.Usage = func() {
		fmt.Fprint(w, usage)
		flags.PrintDefaults()
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	only := flags.String("part", strings.Join(names, ","), "run only these `parts`")
	shard := flags.String("shard", "1/1", "run only the units of this shard, `i/n`")
	flags.IntVar(&o.atATime, "j", runtime.NumCPU(), "run this `number` of units at a time")
	flags.BoolVar(&o.deep, "deep", false, "test more, which takes hours instead of minutes")
	flags.BoolVar(&o.list, "list", false, "only list the units")
	flags.BoolVar(&o.page, "page", false, "run nothing, but write docs/proof.md from the results so far")
	flags.BoolVar(&o.again, "again", false, "run again what has been run already")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if n, err := fmt.Sscanf(*shard, "%d/%d", &o.shard, &o.of); err != nil || n != 2 || o.shard < 1 || o.shard > o.of {
		return o, fmt.Errorf("-shard %q: want i/n, with i from 1 to n", *shard)
	}
	if o.atATime < 1 {
		return o, fmt.Errorf("-j %d: want 1 at least", o.atATime)
	}
	for name := range strings.SplitSeq(*only, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return o, fmt.Errorf("-part %q: there are %s", name, strings.Join(names, ", "))
		}
		o.parts = append(o.parts, parts[i])
	}
	return o, nil
}

// prove runs the units that are to be run, writes the page, and returns how many findings
// the parts have that were asked for.
func prove(ctx context.Context, o options, log io.Writer) (findings int, err error) {
	root, err := image.Root()
	if err != nil {
		return 0, err
	}
	m, s, err := prepare(root)
	if err != nil {
		return 0, err
	}
	m.Deep = o.deep
	tasks, err := o.tasks(m, s)
	if err != nil {
		return 0, err
	}
	if o.list {
		for _, t := range tasks {
			fmt.Fprintf(log, "%s %s: about %v\n", t.part.Name, t.unit.Name, t.unit.Cost)
		}
		return 0, nil
	}
	if !o.page {
		r := &run{state: s, log: log}
		if err := r.do(ctx, tasks, o.atATime); err != nil {
			return 0, err
		}
	}
	results, err := collect(m, s)
	if err != nil {
		return 0, err
	}
	asked := slices.DeleteFunc(slices.Clone(results), func(r result) bool {
		return !slices.ContainsFunc(o.parts, func(p Part) bool { return p.Name == r.part.Name })
	})
	for _, r := range asked {
		findings += len(r.sum.Findings)
	}
	if err := o.wholePage(results); err != nil {
		fmt.Fprintf(log, "%s%v\n", table(asked), err)
		return findings, nil
	}
	of, err := originOf(root, filepath.Base(s.dir))
	if err != nil {
		return 0, err
	}
	return findings, writePage(m, results, of, filepath.Join(root, "docs"))
}

// prepare builds the image and returns its folder of results, with a copy of the image: the next
// build must not change it during the run.
func prepare(root string) (*Machines, state, error) {
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		return nil, state{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, state{}, err
	}
	own, err := sumOf(filepath.Join(root, "ktest", "prove"))
	if err != nil {
		return nil, state{}, err
	}
	s := state{filepath.Join(root, "build", "prove", fmt.Sprintf("%.8x-%.4x", sha256.Sum256(b), own))}
	m := &Machines{Image: filepath.Join(s.dir, "sonde-test.elf")}
	if _, err := os.Stat(m.Image); err == nil {
		return m, s, nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, s, err
	}
	if err := os.WriteFile(m.Image+".new", b, 0o755); err != nil {
		return nil, s, err
	}
	return m, s, os.Rename(m.Image+".new", m.Image)
}

// tasks returns what is to be run.
func (o options) tasks(m *Machines, s state) (all []task, err error) {
	n := 0
	for _, p := range o.parts {
		units, err := p.Units(m)
		if err != nil {
			return nil, err
		}
		for _, u := range units {
			if n++; n%o.of != o.shard%o.of {
				continue
			}
			if was, done, err := s.load(p.Name, u); err != nil {
				return nil, err
			} else if done && !was.Open && !o.again {
				continue
			}
			all = append(all, task{p, u})
		}
	}
	return all, nil
}
