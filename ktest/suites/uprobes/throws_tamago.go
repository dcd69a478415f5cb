//go:build tamago

package uprobes

import (
	"fmt"
	"strings"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

// thrown are the parts of throws, what they print, and how often each function is called there and
// returns. In every part all functions have return probes.
var thrown = []struct {
	name, out string
	calls     map[string][2]uint64
}{
	{"throws", "45350", map[string][2]uint64{"catches": {300, 300}, "through": {300, 200}, "thrower": {300, 200}}},
	{"threads", "181400", map[string][2]uint64{"catches": {1200, 1200}, "through": {1200, 800}, "thrower": {1200, 800}}},
	{"deeps", "1080", map[string][2]uint64{"deep": {1020, 0}, "thrower": {20, 0}}},
	{"tails", "60400", map[string][2]uint64{"tail": {200, 200}, "through": {200, 200}, "thrower": {200, 200}}},
	{"chooses", "1220625", map[string][2]uint64{"choose": {300, 300}, "through": {37, 37}, "thrower": {75, 75}}},
	{"backtraces", "400", map[string][2]uint64{"walked": {421, 421}, "frames": {21, 21}}},
	{"longjmps", "22350", map[string][2]uint64{"jumps": {300, 150}}},
	{"coroutines", "90700", map[string][2]uint64{"catches": {600, 600}, "through": {600, 400}, "thrower": {600, 400}}},
	{"kills", "10", nil},
}

func init() {
	for _, c := range thrown {
		both("uprobes/exceptions_in_"+c.name, func(t *suites.T) { throws(t, c.name, c.out, c.calls) })
	}
}

// throws runs a part with a return probe on each function.
func throws(t *suites.T, part, out string, calls map[string][2]uint64) {
	p := need(t, "/bin/throws")
	probes := map[string]*uprobes.Uretprobe{}
	for _, name := range []string{"thrower", "through", "catches", "deep", "tail", "choose", "frames", "walked", "jumps"} {
		rp := &uprobes.Uretprobe{U: uprobes.Uprobe{Path: p.path, Symbol: name, TrapSafe: inTrap}}
		rp.Handler = func(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
			if ri.RetAddr != r.IP {
				t.Errorf("%s returns to %#x, IP is %#x", name, ri.RetAddr, r.IP)
			}
		}
		t.Must(uprobes.RegisterUretprobe(rp))
		defer uprobes.UnregisterUretprobe(rp)
		probes[name] = rp
	}
	for _, line := range strings.Split(strings.TrimSpace(shell(t, "cat /sys/kernel/debug/uprobes/list")), "\n") {
		if !strings.Contains(line, "returns: breakpoints on its exits (") {
			t.Errorf("%s", line)
		}
	}
	p.start(t, func(*proc.Process) {}, part).wait(t, fmt.Sprintf("%s %s\n", part, out))
	for name, rp := range probes {
		l := rp.U.Ledger()
		if l.InFlight != 0 || l.Unexplained() != 0 {
			t.Errorf("%s: %+v", name, l)
		}
		if want := calls[name]; calls != nil && (l.Entered != want[0] || l.Handled != want[1] || l.Abandoned != want[0]-want[1]) {
			t.Errorf("%s: %d calls, %d returns, want %d, %d: %+v", name, l.Entered, l.Handled, want[0], want[1], l)
		}
	}
}
