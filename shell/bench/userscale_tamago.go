//go:build tamago && !nolinux

package bench

import (
	"fmt"
	"io"
	"slices"

	"sonde/kernel/cpu"
	"sonde/linux/proc"
)

// scaleUser is scale for user probes: single-threaded programs, each with a probe.
func scaleUser(w io.Writer, table *proc.Table) error {
	for _, name := range []string{"u", "ur"} {
		i := slices.IndexFunc(userRows, func(r userRow) bool { return r.name == name })
		for n := 1; n <= min(2, cpu.Num()); n++ {
			rate, err := measure(func(int) (int64, error) { return userRows[i].perSecond(table, n) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintf(w, "%s_x%d_per_s\t%s\n", name, n, rate)
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
