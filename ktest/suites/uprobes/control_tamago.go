//go:build tamago

package uprobes

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("uprobes/list_and_stats", listAndStats)
	suites.Add("uprobes/example_counts_hits", example)
	suites.Add("uprobes/example_reports_returns", returnExample)
	suites.Add("uprobes/two_modules_probe_one_process", twoModules)
	suites.Add("uprobes/module_that_forgets_its_probes", forgetful)
	suites.Add("uprobes/example_fails_for_no_process", exampleFails)
}

// shell runs a line and returns what it prints.
func shell(t *suites.T, line string) string {
	var b bytes.Buffer
	suites.Script(&b, line)
	return b.String()
}

// logged returns what a line of the shell adds to the log.
func logged(t *suites.T, line string) string {
	return logWhile(t, func() { shell(t, line) })
}

// loaded loads a module, unloads it when each of its probes has been hit, and returns what
// that adds to the log.
func loaded(t *suites.T, module string) string {
	return logWhile(t, func() {
		shell(t, "insmod "+module)
		t.Until("hits", func() bool {
			all := uprobes.All()
			return len(all) > 0 && !slices.ContainsFunc(all, func(i uprobes.Info) bool { return i.Ledger.Handled < 3 })
		})
		name, _, _ := strings.Cut(module, " ")
		shell(t, "rmmod "+name)
	})
}

// wants checks that lines, as patterns, are in text in that order.
func wants(t *suites.T, text string, lines ...string) {
	at := 0
	for _, l := range lines {
		found := regexp.MustCompile("(?m)" + l + "$").FindStringIndex(text[at:])
		if found == nil {
			t.Errorf("no %q in order in\n%s", l, text)
			return
		}
		at += found[1]
	}
}

func listAndStats(t *suites.T) {
	p := need(t, "/bin/probed")
	c := newCounter()
	rp, way := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}, "boosted"
	if rp.U.TrapSafe = inTrap; inTrap {
		way += uprobes.InTheTrap
	}
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, &c.Uprobe, "leaf")
		rp.U.Pid, rp.U.Vaddr = c.Pid, c.Vaddr
		t.Must(uprobes.RegisterUretprobe(rp))
	}, "sleeps")
	t.Until("hits", func() bool { return c.hits() > 3 && rp.U.Ledger().Handled > 3 })
	off := c.Vaddr - 0x400000
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"),
		fmt.Sprintf(`^ *%d  %016x  u   probed  +/bin/probed:%#x  %s`, c.Pid, c.Vaddr, off, way),
		fmt.Sprintf(`^ *%d  %016x  ur  probed  +/bin/probed:%#x  %s  returns: breakpoints on its exits \(1\)`, c.Pid, c.Vaddr, off, way))
	r.kill(t)
	if s := shell(t, "cat /sys/kernel/debug/uprobes/list"); s != "" {
		t.Errorf("after the end: %s", s)
	}
	p.start(t, func(in *proc.Process) {
		c.Uprobe.Pid = in.PID
		t.Must(uprobes.RegisterUprobe(&c.Uprobe))
		wants(t, shell(t, "cat /sys/kernel/debug/uprobes/stats"), `^ *pid  address  .*unexplained  place`,
			fmt.Sprintf(`^ *%d  %016x  u  +0 +0 +0 +0 +0 +0 +0 +0  /bin/probed:%#x`, c.Pid, c.Vaddr, off))
	}, "calls").wait(t, "calls 1505500\n")
	if l := c.Ledger(); l.Entered != 1000 || l.Handled != 1000 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// example does what uprobes.txt §11 shows.
func example(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "sleeps")
	addr := p.addr(t, r.p, "leaf")
	out := loaded(t, fmt.Sprintf("uprobe_example pid=%d vaddr=%#x", r.p.PID, addr))
	wants(t, out,
		fmt.Sprintf(`Registering uprobe on pid %d, vaddr %#x`, r.p.PID, addr),
		fmt.Sprintf(`Hit #1 on probepoint at %#x`, addr),
		fmt.Sprintf(`Hit #2 on probepoint at %#x`, addr),
		fmt.Sprintf(`Unregistering uprobe on pid %d, vaddr %#x`, r.p.PID, addr),
		`Probepoint was hit \d+ times`)
	out = loaded(t, fmt.Sprintf("uprobe_example pid=%d vaddr=%#x verbose=0", r.p.PID, addr))
	wants(t, out, `Registering .*`, `Unregistering .*`, `Probepoint was hit [1-9]\d* times`)
	if strings.Contains(out, "Hit #") {
		t.Errorf("verbose=0:\n%s", out)
	}
	r.kill(t)
}

// returnExample does what uprobes.txt §12 shows.
func returnExample(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "sleeps")
	addr := p.addr(t, r.p, "leaf")
	out := loaded(t, fmt.Sprintf("uretprobe_example pid=%d func=%#x", r.p.PID, addr))
	wants(t, out,
		fmt.Sprintf(`Registering uprobe on pid %d, vaddr %#x`, r.p.PID, addr),
		fmt.Sprintf(`Registering return probe on pid %d, vaddr %#x`, r.p.PID, addr),
		fmt.Sprintf(`Function at %#x called`, addr),
		fmt.Sprintf(`Function at %#x returns 0x4`, addr),
		fmt.Sprintf(`Unregistering probes on pid %d, vaddr %#x`, r.p.PID, addr),
		`\d+ calls, \d+ returns`)
	r.kill(t)
}

func twoModules(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "sleeps")
	addr := p.addr(t, r.p, "leaf")
	shell(t, fmt.Sprintf("insmod uprobe_example pid=%d vaddr=%#x verbose=0", r.p.PID, addr))
	out := loaded(t, fmt.Sprintf("uretprobe_example pid=%d func=%#x verbose=0", r.p.PID, addr))
	wants(t, out, `[1-9]\d* calls, [1-9]\d* returns`)
	wants(t, logged(t, "rmmod uprobe_example"), `Probepoint was hit [1-9]\d* times`)
	r.kill(t)
}

func exampleFails(t *suites.T) {
	need(t, "/bin/probed")
	wants(t, logged(t, "insmod uprobe_example pid=99999 vaddr=0x401000"),
		`Registering uprobe on pid 99999, vaddr 0x401000`, `register_uprobe\(\) failed, returned -3`)
}

// lost is a module whose exit forgets its probe.
var lost = newCounter()

func init() {
	module.Register(&module.Module{Name: "forgets_user_probe", Doc: "for a test: leaves a user probe behind", Init: func() error {
		return uprobes.RegisterUprobe(&lost.Uprobe)
	}, Exit: func() {}})
}

func forgetful(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(*proc.Process) {}, "spin")
	lost.Pid, lost.Vaddr = r.p.PID, p.addr(t, r.p, "leaf")
	shell(t, "insmod forgets_user_probe")
	t.Until("a hit", func() bool { return lost.hits() > 0 })
	wants(t, logged(t, "rmmod forgets_user_probe"), "forgot a user probe at .*, which is unregistered")
	if n := len(uprobes.All()); n != 0 {
		t.Errorf("%d probes are left", n)
	}
	r.kill(t)
}
