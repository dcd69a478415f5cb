package main

import "testing"

// calls is how many instructions a row of programs takes. As in usual: if a number has to grow, say
// why.
var calls = map[string]float64{
	"getpid":             397,
	"clock_gettime":      802,
	"clock_gettime_libc": 44,
	"sched_yield":        440,
	"read1_zero":         1124,
	"write1_null":        1123,
	"read1_pipe":         1216,
	"write1_pipe":        1215,
	"open_close":         7009,
	"stat":               4471,
	"signal_self":        7144, // 6456 before the frame had AVX's registers
	"int3":               5761,
	"pipe_rt":            13293,
	"fork_exit":          108873,
	"fork_exec":          354552,
	"read64k_kib":        533,
	"thread":             36842,
	"futex_rt":           11271,
	"mmap1":              4832,
	"mprotect2":          2949,
	"fault":              1387,
	"cow":                2074,
}

// TestCallsTakeNoMoreInstructions: no row takes 15 % more than usual. It takes the least of five
// rounds, which is the same each time for one image; another image has other addresses, stack sizes
// and garbage collections.
func TestCallsTakeNoMoreInstructions(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	all, err := countRows(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range all.failed {
		t.Errorf("%s: %s", name, why)
	}
	for name, n := range calls {
		switch got := all.least(name); {
		case got < n/2:
			t.Errorf("row %s: %.0f instructions, which cannot be", name, got)
		case got > 1.15*n:
			t.Errorf("row %s: %.0f instructions, not %.0f", name, got, n)
		}
	}
}
