//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"sonde/kernel/cpu"
)

// scale prints how often one probe is hit per second, in all, from one CPU and
// from two: NAME_x1_per_s and NAME_x2_per_s. Rows call, without a probe, say what
// a second CPU of this machine is worth.
func scale(w io.Writer) error {
	for _, name := range []string{"call", "b", "o", "ro"} {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if err := rows[i].scale(w); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *row) scale(w io.Writer) error {
	for n := 1; n <= min(2, cpu.Num()); n++ {
		rate, err := median(func(run int) (int64, error) {
			return r.planted(run, func() int64 { return perSecond(r.target, n) })
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s_x%d_per_s\t%d\n", r.name, n, rate)
	}
	return nil
}

// perSecond has n goroutines call f and returns the calls per second, in all.
func perSecond(f func(), n int) int64 {
	const each = 20 * calls
	var all sync.WaitGroup
	from := time.Now()
	for range n {
		all.Go(func() {
			for range each {
				f()
			}
		})
	}
	all.Wait()
	return int64(float64(n*each) / time.Since(from).Seconds())
}
