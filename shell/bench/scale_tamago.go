//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
)

// scale prints how many hits per second one probe has in total, from one CPU and from two:
// NAME_x1_per_s and NAME_x2_per_s. Rows call, without a probe, show the effect of a second CPU
// itself.
func scale(w io.Writer) error {
	for _, name := range []string{"call", "b", "o", "ro"} {
		r := &rows[slices.IndexFunc(rows, func(r row) bool { return r.name == name })]
		err := rates(w, name, func(run, n int) (int64, error) {
			return r.planted(run, func() int64 { return perSecond(r.target, n) })
		})
		if err != nil {
			return err
		}
	}
	if inPrograms != nil {
		return inPrograms.scale(w)
	}
	return nil
}

// rates prints how many hits per second f has on one CPU, and on two; f gets the number of the run and of CPUs.
func rates(w io.Writer, name string, f func(run, n int) (int64, error)) error {
	for n := 1; n <= min(2, cpu.Num()); n++ {
		rate, err := measure(func(run int) (int64, error) { return f(run, n) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(w, "%s_x%d_per_s\t%s\n", name, n, rate)
	}
	return nil
}

// perSecond makes n goroutines call f for a fixed time and returns the calls per second in total. A
// fixed number of calls could take minutes on a slow host.
func perSecond(f func(), n int) int64 {
	const while = 150 * time.Millisecond
	var all sync.WaitGroup
	var done atomic.Int64
	from := cpu.Nanotime()
	for range n {
		all.Go(func() {
			calls := int64(0)
			for cpu.Nanotime()-from < int64(while) {
				for range 1000 {
					f()
				}
				calls += 1000
			}
			done.Add(calls)
		})
	}
	all.Wait()
	return done.Load() * 1e9 / (cpu.Nanotime() - from)
}
