//go:build tamago

package uprobes

import (
	"fmt"
	"time"

	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("uprobes/disabled_and_enabled", disabledAndEnabled)
	both("uprobes/disabled_on_a_file", disabledOnFile)
	both("uprobes/all_switched_off", allOff)
}

// rests checks that c is hit no more, once the handlers that had begun have ended.
func rests(t *suites.T, c *counter) {
	t.Until("rest", func() bool {
		n := c.hits()
		time.Sleep(20 * time.Millisecond)
		return c.hits() == n && c.Ledger().Unexplained() == 0 // no handler runs
	})
}

// goesOn checks that c is hit again.
func goesOn(t *suites.T, c *counter) {
	n := c.hits()
	t.Until("hits", func() bool { return c.hits() > n+10 })
}

func disabledAndEnabled(t *suites.T) {
	p := need(t, "/bin/probed")
	c, other := newCounter(), newCounter()
	r := p.start(t, func(in *proc.Process) {
		p.probe(t, in, &c.Uprobe, "leaf")
		p.probe(t, in, &other.Uprobe, "leaf")
	}, "spin")
	goesOn(t, c)
	line := fmt.Sprintf(`^ *%d  %016x  u   probed  .*boosted`, c.Pid, c.Vaddr)
	if inTrap {
		line += " in the trap"
	}
	for range 3 {
		t.Must(uprobes.DisableUprobe(&c.Uprobe))
		goesOn(t, other) // what has begun has ended: it is the same thread
		n := c.hits()
		goesOn(t, other)
		if c.hits() != n {
			t.Errorf("%d hits while it is disabled", c.hits()-n)
		}
		wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), line+` \[DISABLED\]`, line)
		t.Must(uprobes.DisableUprobe(&other.Uprobe))
		rests(t, other)
		var b [1]byte
		if t.Must(r.p.Memory().In(b[:], c.Vaddr)); b[0] == 0xCC {
			t.Errorf("the breakpoint is still there")
		}
		t.Must(uprobes.EnableUprobe(&c.Uprobe))
		goesOn(t, c)
		t.Must(uprobes.EnableUprobe(&other.Uprobe))
		goesOn(t, other)
	}
	r.kill(t)
	for _, c := range []*counter{c, other} {
		c.way(t)
		if l := c.Ledger(); l.Handled != uint64(c.hits()) || l.Unexplained() != 0 {
			t.Errorf("%d hits, %+v", c.hits(), l)
		}
	}
}

// disabledOnFile: in all processes, those that begin later, too.
func disabledOnFile(t *suites.T) {
	p := need(t, "/bin/probed")
	c := newCounter()
	c.Path, c.Symbol = p.path, "leaf"
	t.Must(uprobes.RegisterUprobe(&c.Uprobe))
	early := p.start(t, func(*proc.Process) {}, "spin")
	goesOn(t, c)
	t.Must(uprobes.DisableUprobe(&c.Uprobe))
	rests(t, c)
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), `/bin/probed:.*\[DISABLED\]`)
	n := c.hits()
	p.start(t, func(*proc.Process) {}, "calls").wait(t, "calls 1505500\n")
	if c.hits() != n {
		t.Errorf("%d hits in a process that began later", c.hits()-n)
	}
	t.Must(uprobes.EnableUprobe(&c.Uprobe))
	goesOn(t, c)
	early.kill(t)
	n = c.hits()
	p.start(t, func(*proc.Process) {}, "calls").wait(t, "calls 1505500\n")
	if c.hits() != n+1000 {
		t.Errorf("%d hits, want 1000", c.hits()-n)
	}
	t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
}

// allOff uses the file that switches all off and on.
func allOff(t *suites.T) {
	const file = "/sys/kernel/debug/uprobes/enabled"
	p := need(t, "/bin/probed")
	c, later := newCounter(), newCounter()
	r := p.start(t, func(in *proc.Process) { p.probe(t, in, &c.Uprobe, "leaf") }, "spin")
	defer shell(t, "echo 1 > "+file)
	goesOn(t, c)
	shell(t, "echo 0 > "+file)
	rests(t, c)
	p.probe(t, r.p, &later.Uprobe, "leaf")
	rests(t, later)
	if s := shell(t, "cat "+file); s != "0\n" {
		t.Errorf("%q", s)
	}
	shell(t, "echo 1 > "+file)
	goesOn(t, c)
	goesOn(t, later)
	wants(t, shell(t, "echo maybe > "+file), `.*write 0 or 1.*`)
	r.kill(t)
}
