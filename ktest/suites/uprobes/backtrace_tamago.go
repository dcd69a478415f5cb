//go:build tamago

package uprobes

import (
	"strings"
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	suites.Add("uprobes/backtrace_of_c", func(t *suites.T) {
		// Compiled without frame pointers, and each call of fib returns to the trampoline.
		p := need(t, "/bin/probed")
		backtraces(t, p.path, "fib", "fib 610\n", []string{"fib"}, "fib", "main", "_start")
	})
	suites.Add("uprobes/backtrace_of_go", func(t *suites.T) {
		backtraces(t, "/bin/box", "myfunc", "", []string{"myprog", "-n", "2", "-every", "1ms"}, "main.myfunc", "main.myprog", "main.main", "runtime.main", "runtime.goexit")
	})
	suites.Add("uprobes/backtrace_through_libc", func(t *suites.T) {
		p := need(t, "/bin/probed-pie")
		backtraces(t, p.path, "leaf", "calls 1505500\n", []string{"calls"}, "leaf", "main", "__libc_start_main", "_start")
	})
}

// backtraces compares the callers of a function with the names that must be among them, in
// that order, the first and the last at the ends, with a return probe on the function.
func backtraces(t *suites.T, path, symbol, out string, args []string, want ...string) {
	p := need(t, path)
	var mu sync.Mutex
	var seen, wrong int
	last := ""
	var hits atomic.Int64
	u := &uprobes.Uprobe{Path: path, Symbol: symbol, Handler: func(u *uprobes.Uprobe, r *amd64.Regs) {
		if hits.Add(1)%50 > 2 { // of many calls, some
			return
		}
		all := uprobes.Backtrace(r, 50)
		names := make([]string, len(all))
		for i, c := range all {
			names[i] = c.Function
		}
		mu.Lock()
		defer mu.Unlock()
		seen++
		if last = strings.Join(names, " "); !inOrder(names, want) {
			if wrong++; wrong < 4 {
				t.Errorf("%v, want %v", all, want)
			}
		}
	}}
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) {}}
	rp.U.Path, rp.U.Symbol = path, symbol
	t.Must(uprobes.RegisterUprobe(u))
	t.Must(uprobes.RegisterUretprobe(rp))
	r := p.start(t, func(*proc.Process) {}, args...)
	if out == "" {
		<-r.p.Done()
		out = r.out.String()
	}
	r.wait(t, out)
	t.Must(uprobes.UnregisterUretprobe(rp))
	t.Must(uprobes.UnregisterUprobe(u))
	if t.Logf("%d backtraces, the last: %s", seen, last); seen == 0 {
		t.Errorf("no backtrace")
	}
	if uprobes.Backtrace(new(amd64.Regs), 1) != nil {
		t.Errorf("outside of handlers")
	}
}

// inOrder reports whether want is a part of names, and the ends are the same.
func inOrder(names, want []string) bool {
	if len(names) < len(want) || !same(names[0], want[0]) || !same(names[len(names)-1], want[len(want)-1]) {
		return false
	}
	for _, n := range names {
		if len(want) > 0 && same(n, want[0]) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// same: the name of a Go function may lack its package.
func same(name, want string) bool {
	return name == want || "main."+name == want
}
