//go:build tamago

package uprobes

import (
	"fmt"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

// counted are parts of probed, what they print and how often leaf is called.
var counted = []struct {
	part, out string
	hits      int
}{
	{"calls", "calls 1505500\n", 1000},
	{"threads", "threads 6000000\n", 4000},
	{"forks", "forks 135\n", 10}, // the children's are not counted
	{"vforks", "vforks 135\n", 10},
	{"drops", "drops 14850\n", 100},
	{"traps", "traps 135\n", 10},
	{"tail", "tail 14950\n", 100},
	{"exec", "calls 1505500\n", 1},
}

func init() {
	for _, c := range counted {
		both("uprobes/counts_"+c.part, func(t *suites.T) { counts(t, "/bin/probed", "leaf", c.part, c.out, c.hits) })
	}
	both("uprobes/counts_in_a_pie", func(t *suites.T) { counts(t, "/bin/probed-pie", "leaf", "calls", "calls 1505500\n", 1000) })
	both("uprobes/faults_are_seen_at_their_place", func(t *suites.T) { counts(t, "/bin/probed", "peek", "faults", "faults 10000\n", 10) })
	both("uprobes/every_instruction", everyInstruction)
	both("uprobes/signals_see_no_slot", signalsSeeNoSlot)
}

// signalsSeeNoSlot: a signal that comes in a slot is delivered after one step, whose #DB may have been taken where
// it arrived: the program continued without the signal, until an interrupt found it elsewhere.
func signalsSeeNoSlot(t *suites.T) {
	before := debugTraps()
	counts(t, "/bin/probed", "leaf", "signals", "signals 0\n", -1)
	const taken = 20
	if n := debugTraps() - before; n > 3*taken {
		t.Errorf("%d steps for %d signals", n, taken)
	}
}

func debugTraps() (n uint64) {
	for id := range cpu.Num() {
		n += trap.Count(id, amd64.VEC_DB)
	}
	return n
}

// counts runs a part of a program with a probe on a function, and compares its
// output and how often the function was entered.
func counts(t *suites.T, path, function, part, out string, hits int) {
	p := need(t, path)
	c := newCounter()
	r := p.start(t, func(in *proc.Process) {
		c.Pid, c.Vaddr = in.PID, p.addr(t, in, function)
		if err := uprobes.RegisterUprobe(&c.Uprobe); err != nil {
			t.Errorf("register: %v", err)
		}
	}, part)
	r.wait(t, out)
	if c.hits() != hits && hits >= 0 {
		t.Errorf("%s: %d hits, want %d", part, c.hits(), hits)
	}
	c.way(t)
	if err := uprobes.UnregisterUprobe(&c.Uprobe); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// everyInstruction probes each instruction of some functions, all at once.
func everyInstruction(t *suites.T) {
	p := need(t, "/bin/probed")
	for _, part := range []struct {
		functions []string
		arg, out  string
	}{
		{[]string{"leaf", "calls"}, "calls", "calls 1505500\n"},
		{[]string{"fib"}, "fib", "fib 610\n"},
		{[]string{"leaf", "worker", "threads"}, "threads", "threads 6000000\n"},
		{[]string{"jumps", "longjmps"}, "longjmps", "longjmps 1000\n"},
		{[]string{"leaf", "handler", "signals"}, "signals", "signals 0\n"},
		{[]string{"fork", "_Fork", "forks"}, "forks", "forks 135\n"},
		{[]string{"write", "__libc_write", "printf"}, "calls", "calls 1505500\n"},
	} {
		var all []*counter
		r := p.start(t, func(in *proc.Process) {
			for _, name := range part.functions {
				s, ok := p.syms[name]
				if !ok {
					t.Logf("no %s", name)
					continue
				}
				for _, at := range boundaries(t, in, s.Value, s.Size) {
					c := newCounter()
					c.Pid, c.Vaddr = in.PID, at
					if err := uprobes.RegisterUprobe(&c.Uprobe); err != nil {
						t.Errorf("%s+%#x: %v", name, at-s.Value, err)
						continue
					}
					all = append(all, c)
				}
			}
		}, part.arg)
		r.wait(t, part.out)
		hits := 0
		for _, c := range all {
			hits += c.hits()
		}
		t.Logf("%s: %d probes, %d hits", fmt.Sprint(part.functions), len(all), hits)
		if hits == 0 {
			t.Errorf("%s: no hits", part.arg)
		}
	}
}
