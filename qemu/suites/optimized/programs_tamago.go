//go:build tamago

package optimized

import (
	"bytes"
	"time"

	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("load/every_function_while_programs_run", everyFunctionWithPrograms)
}

// everyFunctionWithPrograms probes all functions of the kernel at once, and runs programs
// then, which must print what they print without.
func everyFunctionWithPrograms(t *suites.T) {
	needLong(t)
	if _, err := vfs.Stat("/bin/busybox"); suites.Programs == nil || err != nil {
		t.Skipf("there are no programs")
	}
	lines := []string{
		`busybox sh -c 'busybox seq 1 3000 | busybox sort | busybox md5sum'`,
		`busybox sh -c 'i=0; while [ $i -lt 40 ]; do busybox true; i=$((i+1)); done; echo $i'`,
		`busybox awk 'BEGIN { for (i = 0; i < 20000; i++) s += i * i; print s }'`,
		"hello a b", "gothreads", "threads",
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
	all, refused := everyEntry(t)
	register(t, all...)
	optimize(t)
	t.Logf("%d functions probed, %d may not be, %d by a jump", len(all), refused, jumped(all))
	start := time.Now()
	for range 3 {
		for _, line := range lines {
			if got := run(line); got != want[line] {
				t.Errorf("%s\nprints  %q\nwithout %q", line, got, want[line])
			}
		}
	}
	took := time.Since(start)
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
