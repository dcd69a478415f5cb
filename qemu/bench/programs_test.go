package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// calls is how many instructions a row of programs takes. As in hits: if a number has to grow, say
// why.
var calls = map[string]float64{
	"getpid":             167,
	"clock_gettime":      636,
	"clock_gettime_libc": 44,
	"sched_yield":        404,
	"read1_zero":         875,
	"write1_null":        953,
	"read1_pipe":         886,
	"write1_pipe":        1028,
	"open_close":         7009,
	"stat":               4357,
	"signal_self":        4927,
	"int3":               4242,
	"timer_signal":       15725,
	"timerfd":            1178,
	"signal_wake":        11739,
	"yield_two":          1427,
	"pipe_rt":            12662,
	"fork_exit":          91200,
	"fork_exec":          331000,
	"read64k_kib":        530,
	"thread":             36842,
	"futex_rt":           11271,
	"mmap1":              4698,
	"mprotect2":          2747,
	"fault":              1360,
	"cow":                2070,
}

// What calls was counted with. The C library is part of the program, which starts in fork_exec.
const (
	library  = "glibc 2.36"
	compiler = "go1.26.8"
)

// most is how many instructions a row may take at most, for rows that Linux 5.10 does in few: in 239,
// 80, 945 and 4214.
var most = map[string]float64{"getpid": 240, "clock_gettime_libc": 80, "read1_pipe": 900, "signal_self": 5000}

// TestCallsTakeNoMoreInstructions: no row takes 15 % more than usual, nor more than it may. It takes
// the least of five rounds, and boots again for rows that are above: a collection of garbage, or a
// host that is slow to take what is printed, makes all rounds of a boot longer.
func TestCallsTakeNoMoreInstructions(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	v, _ := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	same := strings.TrimSpace(string(v)) == library && runtime.Version() == compiler
	if !same {
		t.Logf("counted with %s and %s, here are %s and %s: rows may take twice as many", library, compiler, strings.TrimSpace(string(v)), runtime.Version())
	}
	var all results
	var rows, wrong []string
	for boot := 0; boot < 3 && (boot == 0 || len(rows) > 0); boot++ {
		if err := all.count(rows); err != nil {
			t.Fatal(err)
		}
		rows, wrong = above(&all, same)
	}
	for _, what := range wrong {
		t.Error(what)
	}
	for name, why := range all.failed {
		t.Errorf("%s: %s", name, why)
	}
	for name, n := range calls {
		if got := all.least(name); got < n/2 {
			t.Errorf("row %s: %.0f instructions, which cannot be", name, got)
		}
	}
}

// above returns the rows that take too many instructions, and what to say of each. same: they are
// counted with what calls was counted with.
func above(all *results, same bool) (rows, says []string) {
	for name, n := range calls {
		limit := 1.15 * n
		if m := most[name]; m > 0 {
			limit = min(limit, m)
		}
		if !same {
			limit = 2 * n
		}
		if got := all.least(name); got > limit {
			rows = append(rows, name)
			says = append(says, fmt.Sprintf("row %s: %.0f instructions, %.0f at most (usual: %.0f)", name, got, limit, n))
		}
	}
	return rows, says
}
