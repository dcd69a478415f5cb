//go:build tamago

package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/smp"
	"sonde/kprobes"
	"sonde/optprobe"
)

// optimize makes registered probes use jumps, or traps.
func optimize(jumps bool) error {
	if err := optprobe.Optimization.Store(jumps); err != nil {
		return err
	}
	if err := optprobe.Optimize(); err != nil || !jumps {
		return err
	}
	for _, left := range kprobes.Candidates() {
		// Probes of load, which are elsewhere, may use either.
		if where := kallsyms.Where(uint64(left.Addr)); strings.HasPrefix(where, "sonde/shell/bench.") {
			return fmt.Errorf("the probe at %s is not optimized", where)
		}
	}
	return nil
}

// registration measures registering one probe, and many at once.
func registration(w io.Writer) error {
	var failed error
	print := func(name string, f func() (time.Duration, error)) { failed = cmp.Or(failed, timed(w, name, f)) }
	if err := optimize(false); err != nil {
		return err
	}
	print("regpair", pair)
	many, err := many()
	if err != nil {
		return err
	}
	var out figure
	print("batch256_register", func() (time.Duration, error) {
		in, o, err := group(many, nil)
		out = append(out, o.Nanoseconds())
		return in, err
	})
	if slices.Sort(out); failed == nil {
		fmt.Fprintf(w, "batch256_unregister\t%s\n", out)
	}
	optprobe.Optimization.Store(true)
	one := []*kprobes.Kprobe{{SymbolName: "sonde/shell/bench.targetMov", PreHandler: count}}
	print("reg_to_opt", func() (time.Duration, error) { d, _, err := group(one, optimized); return d, err })
	print("batch256_optimized", func() (time.Duration, error) { d, _, err := group(many, optimized); return d, err })
	print("stop_machine", func() (time.Duration, error) {
		return smp.StopMachine(func([]*amd64.Regs) error { return nil })
	})
	print("synchronize_sched", func() (time.Duration, error) { return grace.Synchronize(), nil })
	return failed
}

// pair registers and unregisters a probe.
func pair() (time.Duration, error) {
	const n = 50
	k := &kprobes.Kprobe{SymbolName: "sonde/shell/bench.targetGo", PreHandler: count}
	from := time.Now()
	for range n {
		if err := kprobes.RegisterKprobe(k); err != nil {
			return 0, err
		}
		kprobes.UnregisterKprobe(k)
	}
	return time.Since(from) / n, nil
}

// group registers ks, waits until done returns true, if it is not nil, and unregisters them.
func group(ks []*kprobes.Kprobe, done func([]*kprobes.Kprobe) bool) (in, out time.Duration, err error) {
	from := time.Now()
	if err := kprobes.RegisterKprobes(ks); err != nil {
		return 0, 0, err
	}
	for done != nil && !done(ks) {
		if time.Since(from) > 10*time.Second {
			err = fmt.Errorf("not optimized after %v", time.Since(from))
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	in = time.Since(from)
	from = time.Now()
	kprobes.UnregisterKprobes(ks)
	return in, time.Since(from), err
}

// optimized reports whether all of ks use jumps.
func optimized(ks []*kprobes.Kprobe) bool {
	return !slices.ContainsFunc(ks, func(k *kprobes.Kprobe) bool { return !kprobes.Optimized(k.Addr) })
}
