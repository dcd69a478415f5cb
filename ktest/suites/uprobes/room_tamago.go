//go:build tamago

package uprobes

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/probe/attach"
	"sonde/uprobes"
)

func init() {
	both("uprobes/without_room_nearby", withoutRoom)
	suites.Add("uprobes/unset_is_told", unsetIsTold)
}

// withoutRoom: nothing is free within 4 GiB of a program's text, and it has all that RLIMIT_AS lets it have. All
// instructions of some functions are probed, and it does the same as without probes.
func withoutRoom(t *suites.T) {
	p := need(t, "/bin/probed")
	var all []*counter
	far := 0
	r := p.start(t, func(in *proc.Process) {
		mem := in.Memory()
		main := p.addr(t, in, "main")
		fillUp(t, mem.Space, main-min(main, 4<<30), main+4<<30)
		mem.SetLimits(space.Limits{AS: mem.Usage().Total, Data: 1 << 30, Stack: 8 << 20})
		for _, name := range []string{"main", "calls", "threads", "worker", "leaf"} {
			for _, at := range boundaries(t, in, p.addr(t, in, name), p.syms[name].Size) {
				c := newCounter()
				c.Pid, c.Vaddr = in.PID, at
				t.Must(uprobes.RegisterUprobe(&c.Uprobe))
				all = append(all, c)
				if slot := uprobes.SlotOf(in, at); slot != 0 && slot-main > 4<<30 && main-slot > 4<<30 {
					far++
				}
			}
		}
		mem.SetLimits(space.Limits{AS: 1 << 47, Data: 1 << 30, Stack: 8 << 20})
	}, "calls", "threads")
	r.wait(t, "calls 1505500\nthreads 6000000\n")
	hit, stepped := 0, 0
	for _, c := range all {
		l := c.Ledger()
		if l.Unexplained() != 0 || l.Handled != uint64(c.hits()) {
			t.Errorf("%#x: %+v, %d hits", c.Vaddr, l, c.hits())
		}
		if hit += c.hits(); c.hits() > 0 {
			stepped++
		}
	}
	if far == 0 || hit < 10_000 || stepped < len(all)/4 {
		t.Errorf("%d of %d slots are far away, %d hits, at %d instructions", far, len(all), hit, stepped)
	}
}

// fillUp reserves all free addresses in [lo,hi).
func fillUp(t *suites.T, s *space.Space, lo, hi uint64) {
	for lo = max(lo, 0x10000); lo < hi; {
		all := s.Areas()
		i := slices.IndexFunc(all, func(a space.Area) bool { return a.End > lo && a.Start < hi })
		end, next := hi, hi
		if i >= 0 {
			end, next = max(all[i].Start, lo), all[i].End
		}
		if end > lo {
			_, err := s.Map(lo, end-lo, 0, space.Fixed|space.NoReserve, nil, 0)
			t.Must(err)
		}
		lo = next
	}
}

// unsetIsTold: a program has a breakpoint of its own where a link to the file would be. All that show the link say so.
func unsetIsTold(t *suites.T) {
	p := need(t, "/bin/probed")
	r := p.start(t, func(in *proc.Process) {
		at := p.addr(t, in, "secret")
		page := at &^ (space.PageSize - 1)
		t.Must(in.Memory().Protect(page, space.PageSize, space.Read|space.Write|space.Exec))
		t.Must(in.Memory().Out(at, []byte{0xCC}))
	}, "sleeps")
	defer r.kill(t)
	l, err := attach.AttachTo(nil, nil, "/bin/probed:secret")
	t.Must(err)
	defer l.Close()
	if sum := l.Ledger(); sum.Unset != 1 || sum.Missed() != 1 || sum.Unexplained() != 0 {
		t.Errorf("%+v", sum)
	}
	told := `unset at 1 of its places in programs: there is a breakpoint at 0x[0-9a-f]+ already`
	wants(t, shell(t, "cat /sys/kernel/debug/attach/links"), `^ +1 +0 +0 +1 +0 .*/bin/probed:secret.*`+told)
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), `^ *0  0+  u .*`+told)
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/stats"), `^ *0  0+  u  +0 +0 +0 +0 +0 +0 +1 +0  /bin/probed:0x.*`)
	wants(t, shell(t, "dmesg | tail -3"), fmt.Sprintf(`there is no probe at /bin/probed:.* of process %d, probed, though there should be: there is a breakpoint.*`, r.p.PID))
	if err := uprobes.RegisterUprobe(&uprobes.Uprobe{Pid: r.p.PID, Vaddr: p.addr(t, r.p, "secret"), Handler: newCounter().Handler}); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("in that process alone: %v", err)
	}
	for _, c := range []struct{ flags, says string }{
		{"-q", `^bt: uprobe:/bin/probed:secret: unset at 1 of its places in programs, where no hit is seen: there is a breakpoint.*`},
		{"-q -f json", `^{"type": "unset_probes", "data": {"probe": "uprobe:/bin/probed:secret", "places": 1, "reason": "there is a breakpoint at 0x[0-9a-f]+ already"}}`},
	} {
		wants(t, shell(t, "bt "+c.flags+" -c true -e 'uprobe:/bin/probed:secret { @ = count(); }'"), c.says)
	}
}
