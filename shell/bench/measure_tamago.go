//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A figure is the results of some runs of one measurement, sorted.
type figure []int64

// String formats the median and the range.
func (f figure) String() string { return fmt.Sprintf("%d\t%d..%d", f.median(), f[0], f[len(f)-1]) }

func (f figure) median() int64 { return f[len(f)/2] }

// net returns f minus base, in thousandths.
func (f figure) net(base int64) figure {
	f = slices.Clone(f)
	for i := range f {
		f[i] = (f[i] - base) / 1000
	}
	return f
}

// timed prints how long f takes in all runs, in nanoseconds.
func timed(w io.Writer, name string, f func() (time.Duration, error)) error {
	ns, err := measure(func(int) (int64, error) { d, err := f(); return d.Nanoseconds(), err })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(w, "%s\t%s\n", name, ns)
	return err
}

// measure collects the results of f in all runs.
func measure(f func(run int) (int64, error)) (figure, error) {
	var all figure
	for i := range runs {
		n, err := f(i)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all, nil
}
