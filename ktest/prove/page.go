//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A result adds up the outcomes of a part's units.
type result struct {
	part      Part
	done, all int
	sum       Outcome
}

// collect adds up what has been run.
func collect(m *Machines, s state) (results []result, err error) {
	for _, p := range parts {
		units, err := p.Units(m)
		if err != nil {
			return nil, err
		}
		r := result{part: p, all: len(units)}
		for _, u := range units {
			o, done, err := s.load(p.Name, u)
			if err != nil {
				return nil, err
			}
			if done {
				r.add(o)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// add adds the outcome of a unit.
func (r *result) add(o Outcome) {
	r.done++
	for _, c := range o.Counts {
		r.sum.add(c.Name, c.N)
	}
	if r.sum.Sum == "" {
		r.sum.Sum = o.Sum
	} else if o.Sum != "" && o.Sum != r.sum.Sum {
		o.Findings = append(o.Findings, "the result of the work differs from that in other boots")
	}
	r.sum.Findings = append(r.sum.Findings, o.Findings...)
	r.sum.Notes = append(r.sum.Notes, o.Notes...)
	r.sum.Reached = append(r.sum.Reached, o.Reached...)
	r.sum.Seconds += o.Seconds
}

// wholePage says why there is no page to be written, nil if there is one.
func (o options) wholePage(results []result) error {
	if o.page {
		return nil
	}
	if len(o.parts) < len(parts) || o.of > 1 {
		return errors.New("the page is not written: this run leaves out parts or units")
	}
	for _, r := range results {
		if r.done < r.all {
			return fmt.Errorf("the page is not written: of the units of %s, %d of %d have been run", r.part.Name, r.done, r.all)
		}
	}
	return nil
}

// writePage writes proof.md into dir; qemu/pictures draws the map from it.
func writePage(m *Machines, results []result, of origin, dir string) error {
	var reached []uint64
	for _, r := range results {
		reached = append(reached, r.sum.Reached...)
	}
	seen, err := readMap(m, reached)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, of, shows(results, seen))
	b.WriteString(table(results))
	for _, r := range results {
		b.WriteString(details(r))
	}
	b.WriteString(pagePackages + packageTable(seen.packages))
	b.WriteString(pageMap + seen.legend)
	return os.WriteFile(filepath.Join(dir, "proof.md"), []byte(b.String()), 0o644)
}

// percent is a part of all, as text.
func percent(part, all int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(all, 1)))
}

// shows is what the run shows, of what has been run.
func shows(results []result, seen view) string {
	var b strings.Builder
	var missing []string
	probed, findings := 0, 0
	for _, r := range results {
		if r.done < r.all {
			missing = append(missing, fmt.Sprintf("%s %d of %d", r.part.Name, r.done, r.all))
		}
		if r.part.Name == instructions.Name {
			probed = r.sum.count("boundaries")
		}
		findings += len(r.sum.Findings)
	}
	if missing != nil {
		fmt.Fprintf(&b, "- The run is incomplete. Units run of the parts that are not complete: %s.\n"+
			"  The figures are those of the units that were run.\n", strings.Join(missing, ", "))
	}
	found := "No probe changed the\n  result of the work."
	if findings > 0 {
		found = fmt.Sprintf("%d findings are\n  listed below.", findings)
	}
	fmt.Fprintf(&b, pageShows, seen.all, seen.probed, probed, found,
		percent(seen.kernel.reached, seen.kernel.all), percent(seen.reached, seen.all))
	return b.String()
}

// The head is a format, of the origin and of what the run shows.
const pageHead = `# The proof run

` + "`make prove`" + ` checks that no probe harms the kernel, and writes this page and its map:

1. It boots the kernel's test image many times in QEMU, and probes its code.
2. In each boot, the image repeats the same work: maps, fmt, sorting, SHA-256, goroutines, timers,
   panics, growing stacks, files, the shell, programs, garbage collection.
3. It compares a hash of the work's output, which must be the same with probes as without.

The code is in ` + "`ktest/prove` and `ktest/suites/prove`" + `. The package comment of ktest/prove
explains how to run single parts, and how to divide the run among hosts.

Made from %s.
Functions and files are named as they were in that commit.

What the run shows:

%s
## Table

`

// A format, of the numbers of instructions (all, those that can have a probe, those that got
// one), what was found, and the shares that were reached of the kernel's and of all.
const pageShows = `- The image has %d instructions, and %d can have a probe.
  %d got one in each possible way. %s
- %s of the kernel's instructions were executed while they had a probe: of those functions
  that the image without tests has, too. (%s of all instructions of the test image.) They were
  reached by the repeated work, or by the wider work of part "wide": programs, all commands,
  modules, and the kernel's own tests. There, each instruction has a breakpoint until it has been
  hit three times.
- For the other instructions, the run shows that a probe can be set and removed, and (part
  "encodings") that the copy does what the original does. It does not show a hit.
- The run does not cover other devices, or other processors than QEMU's. The table "Packages" shows
  where the code is that it did not reach.
`

const pagePackages = `
## Packages

The packages with the most instructions that were not executed with a probe; the largest numbers
come first.

`

const pageMap = `
## Map

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/proof-dark.svg">
  <img alt="The folders, and how much of each was probed" src="pictures/proof.svg">
</picture>

The map shows the folders of the packages above; each run draws it again.

`

// table is a line for each part.
func table(results []result) string {
	var b strings.Builder
	b.WriteString("| part | what it shows | units run | findings | time on one processor |\n|---|---|---|---|---|\n")
	for _, r := range results {
		took := time.Duration(r.sum.Seconds * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %d | %v |\n", r.part.Name, r.part.Says, r.done, r.all, len(r.sum.Findings), took)
	}
	return b.String()
}

// details are the numbers of a part, its findings and its notes.
func details(r result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n", r.part.Name)
	if len(r.sum.Counts) > 0 {
		b.WriteString("| count | |\n|---|---:|\n")
	}
	for _, c := range r.sum.Counts {
		fmt.Fprintf(&b, "| %s | %d |\n", c.Name, c.N)
	}
	lines := func(title string, list []string) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:\n\n", title)
		for _, l := range list {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	lines("Findings", r.sum.Findings)
	lines("Notes", r.sum.Notes)
	return b.String()
}
