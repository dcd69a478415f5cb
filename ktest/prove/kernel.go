//go:build linux

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/qemu/machine"
)

// functions is part 1, instructions part 2.
var (
	functions = Part{
		Name: "functions",
		Says: "an entry probe and a return probe on each function that is not blacklisted, as breakpoint and as jump: one at a time, " +
			"and on all functions at once; the result of the work stays the same",
		Units: functionUnits,
	}
	instructions = Part{
		Name:  "instructions",
		Says:  "a probe on each instruction of these functions, in each possible way; the result of the work stays the same, and registers, flags and memory are what a processor makes of them",
		Units: instructionUnits,
	}
)

// Functions of a unit, and their cost.
const (
	functionsPerUnit    = 150
	instructionsPerUnit = 100 // functions

	bootCost        = 2 * time.Second
	functionCost    = 50 * time.Millisecond
	instructionCost = 100 * time.Millisecond // all those of a function
	singleCost      = 3 * time.Second        // alone
)

// size asks the image for its numbers of functions.
func (m *Machines) size() (probed, black int, err error) {
	var o Outcome
	h, err := m.prove(context.Background(), machine.Config{}, silence, "count", &o, func(string) {})
	if err != nil {
		return 0, 0, err
	}
	if !h.ended || len(o.Counts) != 2 {
		return 0, 0, fmt.Errorf("prove: the image does not say how many functions it has: %s", h.why)
	}
	return o.Counts[0].N, o.Counts[1].N, nil
}

func functionUnits(m *Machines) (all []Unit, err error) {
	n, _, err := m.size()
	for _, smp := range []int{1, 2, 4} {
		all = append(all, Unit{
			Name: fmt.Sprintf("all at once smp%d", smp), Cost: 20 * time.Second,
			Run: func(ctx context.Context) Outcome { return m.together(ctx, smp) },
		})
	}
	for from := 0; from < n; from += functionsPerUnit {
		to, smp := min(from+functionsPerUnit, n), 1+from/functionsPerUnit%2
		all = append(all, Unit{
			Name: fmt.Sprintf("%05d-%05d smp%d", from, to, smp),
			Cost: bootCost + time.Duration(to-from)*functionCost,
			Run: func(ctx context.Context) Outcome {
				return m.sweep(ctx, machine.Config{SMP: smp}, "functions", from, to, func(string) {})
			},
		})
	}
	return all, err
}

// together probes all functions at once, also while programs run.
func (m *Machines) together(ctx context.Context, smp int) (o Outcome) {
	c := machine.Config{SMP: smp, Memory: "1G"}
	h, err := m.prove(ctx, c, silence, "together", &o, func(string) {})
	if err != nil || ctx.Err() != nil {
		o.Err = err
		return o
	}
	if !h.ended {
		o.Findings = append(o.Findings, fmt.Sprintf("the machine ended at %s: %s", h.at, h.why))
	}
	counts := o.Counts
	o.Counts = nil
	for _, n := range counts {
		o.add(fmt.Sprintf("smp %d: %s", smp, n.Name), n.N)
	}
	o.Sum = "" // with programs it is another
	return o
}

func instructionUnits(m *Machines) (all []Unit, err error) {
	n, _, err := m.size()
	name, cost := "%05d-%05d", instructionCost
	if m.Deep {
		name, cost = name+" single", singleCost
	}
	for from := 0; from < n; from += instructionsPerUnit {
		to := min(from+instructionsPerUnit, n)
		all = append(all, Unit{
			Name: fmt.Sprintf(name, from, to),
			Cost: bootCost + time.Duration(to-from)*cost,
			Run:  func(ctx context.Context) Outcome { return m.everyInstruction(ctx, from, to) },
		})
	}
	return all, err
}

// everyInstruction probes the instructions of functions, and has a processor repeat
// what was observed.
func (m *Machines) everyInstruction(ctx context.Context, from, to int) Outcome {
	var reached []uint64
	code, err := newCode(m.Image)
	if err != nil {
		return Outcome{Err: err}
	}
	real, err := newProcessor(code)
	if err != nil {
		return Outcome{Err: err}
	}
	o := m.sweep(ctx, machine.Config{SMP: 1}, "boundaries", from, to, func(line string) {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "r":
			for f := range strings.FieldsSeq(rest) {
				if addr, err := strconv.ParseUint(f, 16, 64); err == nil {
					reached = append(reached, addr)
				}
			}
		case "t":
			real.repeat(rest)
		}
	})
	real.close()
	o.Reached = reached
	for _, n := range real.counts {
		o.add(n.Name, n.N)
	}
	o.Findings = append(o.Findings, real.findings...)
	return o
}
