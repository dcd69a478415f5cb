//go:build tamago && !nolinux

package bench

import (
	"fmt"
	"io"
	"slices"

	"sonde/linux/proc"
)

// scaleUser is scale for user probes: single-threaded programs, each with a probe.
func scaleUser(w io.Writer, table *proc.Table) error {
	for _, name := range []string{"u", "ur"} {
		r := &userRows[slices.IndexFunc(userRows, func(r userRow) bool { return r.name == name })]
		if err := rates(w, name, func(_, n int) (int64, error) { return r.perSecond(table, n) }); err != nil {
			return err
		}
	}
	return nil
}

// perSecond runs n programs and returns their hits per second in total.
func (r *userRow) perSecond(table *proc.Table, n int) (int64, error) {
	type counter struct {
		n uint64
		_ [7]uint64 // so that two CPUs do not share a cache line
	}
	var loops []*loop
	hits := make([]counter, n)
	for i := range hits {
		l, _, err := r.begin(table, &hits[i].n)
		if err != nil {
			return 0, err
		}
		loops = append(loops, l)
	}
	rate := int64(0)
	for i, l := range loops {
		if err := l.end(); err != nil {
			return 0, err
		}
		if hits[i].n != calls {
			return 0, fmt.Errorf("%d hits, not %d", hits[i].n, calls)
		}
		from, to := <-l.at, <-l.at
		rate += calls * 1e9 / (to - from)
	}
	return rate, nil
}
