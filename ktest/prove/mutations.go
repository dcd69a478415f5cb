//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sonde/internal/image"
	"sonde/ktest/mutants"
)

var mutations = Part{
	Name:  "mutations",
	Says:  "deliberate defects (`ktest/mutants`), each of which makes the test named for it fail",
	Units: mutationUnits,
}

// mutationUnits is a unit for each mutant.
func mutationUnits(*Machines) (all []Unit, err error) {
	root, err := image.Root()
	if err != nil {
		return nil, err
	}
	key, err := mutants.Sum(root)
	if err != nil {
		return nil, err
	}
	trees := &forest{root: root}
	for _, m := range mutants.List() {
		cost := 3 * time.Second
		if m.By.Case != "" {
			cost = 12 * time.Second
		}
		all = append(all, Unit{Name: m.Name, Key: key, Cost: cost, Run: func(ctx context.Context) Outcome { return trees.run(ctx, m) }})
	}
	return all, nil
}

// forest is copies of the sources, as many as are used at a time.
type forest struct {
	root string

	mu sync.Mutex
	// guarded by mu:
	free []*mutants.Tree
}

// take returns a copy that no one else uses.
func (f *forest) take() (*mutants.Tree, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free); n > 0 {
		t := f.free[n-1]
		f.free = f.free[:n-1]
		return t, nil
	}
	return mutants.Take(f.root)
}

func (f *forest) give(t *mutants.Tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, t)
}

// run makes one mutant. One that survives, or that shows nothing, is a finding.
func (f *forest) run(ctx context.Context, m mutants.Mutant) (o Outcome) {
	t, err := f.take()
	if err != nil {
		return Outcome{Err: err}
	}
	defer f.give(t)
	r := t.Run(ctx, m)
	if ctx.Err() != nil {
		return Outcome{Err: errors.Join(ctx.Err(), errors.New(r.Why))}
	}
	o.add("mutants", 1)
	if r.Verdict == mutants.Killed {
		o.add("killed", 1)
		return o
	}
	o.Open = r.Verdict == mutants.Broken
	o.Findings = append(o.Findings, fmt.Sprintf("%s (%s): %s, by %s: %s", m.Name, m.Why, r.Verdict, m.By, r.Why))
	return o
}
