//go:build tamago && !nolinux

package optimized

import (
	"bytes"
	"time"

	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("optimized/every_function_while_programs_run", everyFunctionWithPrograms)
}

// everyFunctionWithPrograms probes all functions of the kernel at once, then runs programs, which
// must print what they print without probes.
func everyFunctionWithPrograms(t *suites.T) {
	t.NeedsLong()
	t.NeedPrograms()
	lines := []string{ // of programs that every image has
		`/bin/sh -c 'i=0; while [ $i -lt 10 ]; do /bin/true; i=$((i+1)); done; echo $i'`,
		`/bin/sh -c 'ls /bin | sort | wc; cat /proc/version'`,
		`/bin/sh -c 'f() { echo $1; [ $1 = 0 ] || f $(($1-1)); }; f 4 | /bin/cat | wc'`,
	}
	run := func(line string) string {
		var out bytes.Buffer
		suites.Script(&out, line)
		return out.String()
	}
	want := map[string]string{}
	for _, line := range lines {
		want[line] = run(line)
	}
	begin := time.Now()
	all, refused := everyEntry(t, 1)
	register(t, all...)
	t.Logf("registered after %v", time.Since(begin).Round(time.Millisecond))
	optimize(t)
	t.Logf("optimized after %v", time.Since(begin).Round(time.Millisecond))
	t.Logf("%d functions probed, %d may not be, %d by a jump", len(all), refused, jumped(all))
	start := time.Now()
	for _, line := range lines {
		if got := run(line); got != want[line] {
			t.Errorf("%s\nprints  %q\nwithout %q", line, got, want[line])
		}
	}
	took := time.Since(start)
	t.Logf("the programs ran in %v", took.Round(time.Millisecond))
	kprobes.UnregisterKprobes(all)
	var hits, missed, hit uint64
	for _, k := range all {
		l := k.Ledger()
		hits, missed = hits+l.Handled, missed+l.Missed()
		if l.Handled > 0 {
			hit++
		}
		if l.Unexplained() != 0 || l.Abandoned != 0 {
			t.Errorf("%s: account %+v", name(k.Addr), l)
		}
	}
	t.Logf("count: load/hits-while-programs-ran %d", hits)
	t.Logf("%d hits of %d functions in %v, %d missed", hits, hit, took.Round(time.Second), missed)
	if hit < 500 {
		t.Errorf("only %d functions were hit", hit)
	}
	clean(t)
}
