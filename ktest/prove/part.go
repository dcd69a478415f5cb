//go:build linux

package main

import (
	"context"
	"time"
)

// A Part is one part of the proof.
type Part struct {
	Name  string // for -part, and the folder of its results
	Says  string // what it shows, for the page
	Units func(m *Machines) ([]Unit, error)
}

// A Unit is a piece of a part's work that depends on no other.
type Unit struct {
	Name string        // in its part only once, and the same in each run
	Key  string        // what its outcome depends on beside the image and this program
	Cost time.Duration // about, on a quiet processor: for the time left
	Run  func(ctx context.Context) Outcome
}

// An Outcome is the result of a unit.
type Outcome struct {
	Counts   []Count  // added up over the units of the part
	Findings []string // what is wrong, a line each
	Notes    []string // what else one should know about it, a line each
	Sum      string   // the result of the work in the machine, "" if it did none
	Reached  []uint64 // addresses of instructions that were executed
	Seconds  float64
	Key      string // of the unit
	Open     bool   // nothing has been shown: it is run again

	Err error `json:"-"` // the unit could not be run: nothing is kept
}

// A Count is a number for the table.
type Count struct {
	Name string
	N    int
}

// add adds n to the count called name.
func (o *Outcome) add(name string, n int) { o.Counts = plus(o.Counts, name, n) }

func plus(list []Count, name string, n int) []Count {
	for i := range list {
		if list[i].Name == name {
			list[i].N += n
			return list
		}
	}
	return append(list, Count{name, n})
}

// count is the number called name, 0 if there is none.
func (o *Outcome) count(name string) int {
	for _, c := range o.Counts {
		if c.Name == name {
			return c.N
		}
	}
	return 0
}
