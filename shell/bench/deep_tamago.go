//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"

	"sonde/kernel/cpu"
	"sonde/kprobes"
)

// deepCalls is how often the recursive function is called: a multiple of each depth.
const deepCalls = 64_000

// A deepRow measures a return probe on a recursive function: the cost of a call must not depend on
// how many calls are in progress. Meanwhile the stack grows, in a goroutine of its own, and moving
// it needs the real return addresses.
type deepRow struct {
	name  string
	depth int
}

var deepRows = []deepRow{{"r_1000", 1000}, {"r_16000", 16000}}

func runDeep(out io.Writer, names []string) error {
	for _, r := range deepRows {
		if !slices.Contains(names, r.name) {
			continue
		}
		if err := r.run(out); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (r deepRow) run(out io.Writer) error {
	base, _ := measure(func(int) (int64, error) { return r.perCall(), nil })
	before := total()
	ps, err := measure(func(int) (int64, error) {
		rp := &kprobes.Kretprobe{Handler: countReturn, MaxActive: r.depth}
		rp.KP.SymbolName = "sonde/shell/bench.deep"
		if err := kprobes.RegisterKretprobe(rp); err != nil {
			return 0, err
		}
		defer kprobes.UnregisterKretprobe(rp)
		return r.perCall(), nil
	})
	if err != nil {
		return err
	}
	if got, want := total()-before, uint64(deepCalls*runs); got != want {
		return fmt.Errorf("%d hits, not %d", got, want)
	}
	_, err = fmt.Fprintf(out, "%s\t%s\n", r.name, ps.net(base.median()))
	return err
}

// perCall returns picoseconds per call.
func (r deepRow) perCall() int64 {
	done := make(chan int64)
	go func() {
		from := cpu.Nanotime()
		for range deepCalls / r.depth {
			//lint:ignore SA4017 the calls are what is measured
			deep(r.depth)
		}
		done <- cpu.Nanotime() - from
	}()
	return <-done * 1000 / deepCalls
}

// deep calls itself until n calls are in progress.
//
//go:noinline
func deep(n int) int {
	if n == 1 {
		return 1
	}
	return deep(n-1) + 1
}
