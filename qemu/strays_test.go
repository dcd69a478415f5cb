package main

import (
	"regexp"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestStraysAreNamed: a handler that sends the code where there is none is named after everything else that
// the crash says, where it stays on the screen, with its module and what it has set. The crash alone names whatever came next. Every other
// one runs on two processors; in the long run, each does on one and on two.
func TestStraysAreNamed(t *testing.T) {
	runsBeside(t)
	const suites = `sonde/ktest/suites/handlers\.`
	for i, c := range []struct{ how, role, name, noun, what string }{
		{"pre-ip", "pre-handler", "strayPreIP", "kprobe", `IP from 0xffffffff8[0-9a-f]+ to 0xdead0000`},
		{"pre-sp", "pre-handler", "strayPreSP", "kprobe", `SP from 0x[0-9a-f]+ to 0xbad0000`},
		{"far-sp", "pre-handler", "strayFar", "kprobe", `SP from 0x[0-9a-f]+ to 0xbad0000`},
		{"post-ip", "post-handler", "strayPost", "kprobe", `IP from 0xffffffff8[0-9a-f]+ to 0xdead0000`},
		{"fault-ip", "fault-handler", "strayFault", "kprobe", `IP from 0x[0-9a-f]+ to 0xdead0000`},
		{"return-ip", "return handler", "strayReturn", "return probe", `IP from 0xffffffff8[0-9a-f]+ to 0xdead0000`},
		{"entry-sp", "entry handler", "strayEntry", "return probe", `SP from 0x[0-9a-f]+ to 0xbad0000`},
		{"watch-ip", "handler", "strayWatchIP", "watchpoint", `IP from 0xffffffff8[0-9a-f]+ to 0xdead0000`},
		{"watch-sp", "handler", "strayWatchSP", "watchpoint", `SP from 0x[0-9a-f]+ to 0xbad0000`},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			for _, smp := range []int{1, 2} {
				if smp == 1+i%2 && !long() {
					continue
				}
				r := bootScript(t, testImage, machine.Config{SMP: smp, Script: "insmod strays how=" + c.how})
				want := regexp.MustCompile(`: ` + c.role + ` ` + suites + c.name + ` \(ktest/suites/handlers/strays_tamago\.go:\d+\) of the ` + c.noun +
					` at ` + suites + `\w+\+0x0/0x[0-9a-f]+, module strays, changed where execution continues, \d+ us ago on CPU \d\r?\n[^\n]*: ` + c.what + `\r?\n`)
				named := want.FindAllIndex(r.Log, -1)
				if named == nil {
					t.Errorf("SMP %d: the log does not name the handler\n%s", smp, said(r))
					continue
				}
				rest := string(r.Log[named[len(named)-1][1]:])
				if line, _, _ := strings.Cut(rest, "\n"); !strings.Contains(line, "---[ end Kernel panic") {
					t.Errorf("SMP %d: the cause does not come last\n%s", smp, said(r))
				}
			}
		})
	}
}

// TestPreHandlerThatReturnsOne: what becomes of such a hit is said, once for a probe.
func TestPreHandlerThatReturnsOne(t *testing.T) {
	runsBeside(t)
	const noEffect = `which has no effect when a jump leads to it; with a post-handler the kprobe stays a breakpoint`
	for how, c := range map[string]struct{ handler, what string }{
		"one":         {"strayOne", `left IP as it was: the instruction is not executed, execution continues one byte after its beginning`},
		"one-jump":    {"strayOne", noEffect},
		"pre-ip-jump": {"strayPreIP", noEffect},
	} {
		r := bootScript(t, testImage, machine.Config{SMP: 2, Script: "insmod strays how=" + how + "; dmesg; echo alive"})
		want := regexp.MustCompile(`kprobes: pre-handler sonde/ktest/suites/handlers\.` + c.handler + ` \(ktest/suites/handlers/strays_tamago\.go:\d+\) of the kprobe at ` +
			`sonde/ktest/suites/handlers\.[\w.]+\+0x0/0x[0-9a-f]+, module strays, returned non-zero,?( and)? ` + c.what)
		if n := len(want.FindAll(r.Stdout, -1)); n != 1 || r.Crash || !strings.HasSuffix(string(r.Stdout), "alive\n") {
			t.Errorf("%s: said %d times, want once\n%s", how, n, said(r))
		}
	}
}
