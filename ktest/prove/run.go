//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// A task is a unit that is to be run.
type task struct {
	part Part
	unit Unit
}

// A run does tasks, several at a time.
type run struct {
	state state
	log   io.Writer

	mu sync.Mutex
	// guarded by mu:
	done, all    int
	spent, guess time.Duration // of the tasks that are done
	left         time.Duration // guessed, of the others
	findings     int
	failed       error
	atATime      int
	stopsAfter   context.CancelFunc
}

// do runs the tasks. It returns the first error that kept one from being run; what is
// found is no error.
func (r *run) do(ctx context.Context, tasks []task, atATime int) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	r.stopsAfter = stop
	r.all, r.atATime = len(tasks), atATime
	for _, t := range tasks {
		r.left += t.unit.Cost
	}
	queue := make(chan task)
	var workers sync.WaitGroup
	for range atATime {
		workers.Go(func() {
			for t := range queue {
				r.one(work, t)
			}
		})
	}
	for _, t := range tasks {
		select {
		case queue <- t:
		case <-work.Done():
		}
	}
	close(queue)
	workers.Wait()
	if r.failed != nil {
		return r.failed
	}
	return ctx.Err()
}

// one runs a task and keeps its outcome.
func (r *run) one(ctx context.Context, t task) {
	if ctx.Err() != nil {
		return
	}
	start := time.Now()
	o := t.unit.Run(ctx)
	took := time.Since(start)
	o.Seconds = took.Seconds()
	err := o.Err
	if err == nil {
		err = r.state.save(t.part.Name, t.unit, o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if r.failed == nil {
			r.failed = fmt.Errorf("prove: %s of %s: %w", t.unit.Name, t.part.Name, err)
		}
		r.stopsAfter()
		return
	}
	r.done++
	r.spent, r.guess, r.left = r.spent+took, r.guess+t.unit.Cost, r.left-t.unit.Cost
	r.findings += len(o.Findings)
	fmt.Fprintf(r.log, "[%d/%d, %v left] %s %s: %v\n", r.done, r.all, r.timeLeft(), t.part.Name, t.unit.Name, took.Round(time.Second/10))
	for _, f := range o.Findings {
		fmt.Fprintf(r.log, "\t%s\n", f)
	}
}

// timeLeft corrects the guess for the rest by how wrong the guesses for the tasks that are done
// were.
func (r *run) timeLeft() time.Duration {
	if r.guess == 0 {
		return 0
	}
	scale := float64(r.spent) / float64(r.guess) / float64(r.atATime)
	return time.Duration(float64(r.left) * scale).Round(time.Second)
}
