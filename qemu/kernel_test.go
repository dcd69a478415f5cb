package main

import (
	"fmt"
	"strings"
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// kernelMachines are the machines with several CPUs on which the kernel's own tests run. q35 with two
// leaves out the cases that try every place, instruction or input in turn (suites.T.OneProcessor). Four
// CPUs take turns on a host with fewer, and those that wait for others keep it busy: they run what more
// than two CPUs do to each other (atOnce). A microvm differs in its devices, timers and firmware only,
// and runs the cases that depend on those. TestUserProbes runs those of user probes with two CPUs.
var kernelMachines = []machine.Config{
	{Machine: "q35", SMP: 4, Script: brief + "ktest " + atOnce},
	{Machine: "q35", SMP: 2, Script: fewer() + "ktest '!uprobes/'"},
	{Machine: "microvm", SMP: 2, Script: brief + "ktest traps/ memory/ sched/ grace/ stop/grace stop/late stop/others user/interrupts user/nmis user/timers user/shootdown watch/armed"},
}

// oneProcessor runs all cases but those for which several CPUs are better (suites.T.SeveralProcessors).
var oneProcessor = machine.Config{Machine: "q35", SMP: 1, Script: fewer() + "ktest"}

// atOnce are the cases in which CPUs wait for, stop or interrupt all others, and one storm of most
// mechanisms.
const atOnce = "traps/ memory/ sched/ grace/ ring/ glass/storm " +
	"stop/code stop/grace stop/late stop/nmi stop/others stop/pokes stop/stop_machine stop/storm " +
	"kprobes/registering kprobes/unregistered kprobes/hit_in " +
	"optimized/optimize optimized/storm optimized/sysctl optimized/returns_while_jumps_come_and_go " +
	"returns/storm returns/unregistered_under returns/registered_by " +
	"user/shootdown user/unmapped user/threads user/changed " +
	"watch/registered watch/lock handlers/loop control/ " +
	"bpf/on_all bpf/unload attach/on_all attach/tick uprobes/stopped uprobes/trap"

const brief = "sysctl -w debug.ktest-brief=1; "

// fewer makes cases that chance decides make fewer rounds, but not in the long run.
func fewer() string {
	if long() {
		return ""
	}
	return "sysctl -w debug.ktest-short=1; "
}

// TestKernel boots the kernel with its tests once per machine. Each case of the kernel's is a subtest,
// as TestKernel/q35-smp2/kprobes/first_hit. The machines run one after the other, beside other tests:
// as parallel subtests they would be the last to begin, and the longest would run on alone.
func TestKernel(t *testing.T) {
	runsBeside(t)
	for _, c := range kernelMachines {
		runKernelTests(t, c)
	}
}

// TestKernelOnOneProcessor is TestKernel for a machine beside which others can run.
func TestKernelOnOneProcessor(t *testing.T) {
	runsBeside(t)
	runKernelTests(t, oneProcessor)
}

func runKernelTests(t *testing.T, c machine.Config) {
	t.Run(fmt.Sprintf("%s-smp%d", c.Machine, c.SMP), func(t *testing.T) {
		if long() {
			c.Script = "ktest"
		}
		result := bootScript(t, testImage, c)
		judge(t, report.Parse(string(result.Stdout)), result)
	})
}

// TestKernelBriefly is for -short, which boots this one machine: a program, and cases of most
// suites that take a second or less.
func TestKernelBriefly(t *testing.T) {
	if !testing.Short() {
		t.Skip("TestKernel runs more")
	}
	result := bootScript(t, testImage, machine.Config{SMP: 2, Script: `/bin/sh -c "echo a program | cat"; ` + brief +
		"ktest traps/ memory/ sched/ symbols/ grace/ handlers/ jumpers/ control/ kprobes/a_million kprobes/handler kprobes/fault " +
		"kprobes/several kprobes/refuses kprobes/changed kprobes/hit_in optimized/post optimized/storm optimized/sysctl returns/s " +
		"watch/w watch/a user/r user/e user/p programs/"})
	if !strings.HasPrefix(string(result.Stdout), "a program\n") {
		t.Errorf("the program said nothing\n%s", said(result))
	}
	judge(t, report.Parse(string(result.Stdout)), result)
}

// judge turns a report into subtests and checks the run as a whole.
func judge(t *testing.T, r report.Report, result machine.Result) {
	t.Helper()
	var failed []string
	for _, c := range r.Cases {
		if c.Verdict == report.Fail || c.Verdict == report.Unfinished {
			failed = append(failed, c.Name)
		}
		t.Run(c.Name, func(t *testing.T) {
			for _, remark := range c.Remarks {
				t.Log(remark)
			}
			switch c.Verdict {
			case report.Fail:
				t.Error(c.Why)
			case report.Skip:
				t.Skip(c.Why)
			case report.Unfinished:
				t.Errorf("the machine ended here: %s", result.Reason)
			}
		})
	}
	for _, problem := range problems(r, result, len(failed) > 0) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Log(said(result))
		t.Logf("%s; failed or did not end: %s", r.Summary, strings.Join(failed, " ")) // of a long report often only the end is seen
	} else {
		t.Log(r.Summary)
	}
}

// problems lists what is wrong with a run besides its single cases.
func problems(r report.Report, result machine.Result, failed bool) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if result.Crash {
		add("kernel crashed: %s", result.Reason)
	}
	switch {
	case r.Summary == "":
		add("no summary: the tests did not run to their end")
	case len(r.Cases) == 0:
		add("no cases")
	case r.Mismatch != "":
		add("%s", r.Mismatch)
	case result.Status != 0 && !failed:
		add("status %d, but no case failed", result.Status)
	}
	if r.Summary != "" && len(r.Leaks) == 0 {
		add("no leak line")
	}
	for _, l := range r.Leaked() {
		add("leaked %s: %d before, %d after", l.Name, l.Before, l.After)
	}
	return list
}

func TestProblems(t *testing.T) {
	const fine = "=== a\nok a\nleak: pages 1->1\n1 passed, 0 failed, 0 skipped\n"
	for _, c := range []struct {
		name, out string
		result    machine.Result
		says      []string
	}{
		{"fine", fine, machine.Result{}, nil},
		{"leak", strings.Replace(fine, "1->1", "1->3", 1), machine.Result{}, []string{"leaked pages: 1 before, 3 after"}},
		{"status", fine, machine.Result{Status: 1}, []string{"status 1"}},
		{"crash", "=== a\n", machine.Result{Status: 70, Crash: true, Reason: "BUG"}, []string{"crashed: BUG", "no summary"}},
		{"silence", "", machine.Result{}, []string{"no summary"}},
		{"no leak line", "=== a\nok a\n1 passed, 0 failed, 0 skipped\n", machine.Result{}, []string{"no leak line"}},
	} {
		got := problems(report.Parse(c.out), c.result, false)
		if len(got) != len(c.says) {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.says[i]) {
				t.Errorf("%s: %q does not say %q", c.name, got[i], c.says[i])
			}
		}
	}
}
