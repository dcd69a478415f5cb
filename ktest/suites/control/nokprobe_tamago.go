//go:build tamago

package control

import (
	"errors"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("control/nokprobe_marks_a_function", markObeyed)
	suites.Add("control/blacklist_has_all_that_handles_probes", blacklistComplete)
}

// shielded must not be probed.
//
//go:noinline
func shielded(a int) int { return a*13 + 5 }

var _ = kprobes.NoKprobe("sonde/ktest/suites/control.shielded")

// markObeyed tries a probe of each kind, by name and by address, at the entry
// and inside.
func markObeyed(t *suites.T) {
	const name, why = "sonde/ktest/suites/control.shielded", "shielded may not be probed: it is marked NoKprobe"
	before := state()
	inside, rp, j := kprobeOn(shielded), returnOf(shielded), kprobes.NewJprobe(shielded, func(int) int { return 0 })
	inside.Addr += second(t, shielded)
	for what, err := range map[string]error{
		"by address":   kprobes.RegisterKprobe(kprobeOn(shielded)),
		"by name":      kprobes.RegisterKprobe(&kprobes.Kprobe{SymbolName: name}),
		"inside":       kprobes.RegisterKprobe(inside),
		"return probe": kprobes.RegisterKretprobe(rp),
		"jprobe":       kprobes.RegisterJprobe(j),
	} {
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want EINVAL and %q", what, err, why)
		}
	}
	if line := reason(t, name); line != "it is marked NoKprobe" {
		t.Errorf("blacklist gives the reason %q", line)
	}
	if shielded(2) != 31 {
		t.Errorf("shielded computes %d", shielded(2))
	}
	suites.Equal(t, "at the end", state(), before)
}

// reason returns what the file blacklist_reasons says of a function, "" if nothing.
func reason(t *suites.T, name string) string {
	for _, line := range read(t, "blacklist_reasons") {
		if what, why, _ := strings.Cut(line, "\t"); what == name {
			return why
		}
	}
	return ""
}

// handling is a few functions of each kind that no probe may be in.
var handling = map[string][]string{
	"trap entry": {"sonde/arch/amd64/trap.entry", "sonde/arch/amd64/trap.entryBP", "sonde/arch/amd64/trap.entryDB", "sonde/arch/amd64/trap.save", "sonde/arch/amd64/trap.restore"},
	"probes": {"sonde/kprobes.onBreakpoint", "sonde/kprobes.onStep", "sonde/kprobes.onReturn", "sonde/kprobes.onFault",
		"sonde/kprobes.(*Kprobe).callSpecial", "sonde/kprobes.perform", "sonde/arch/amd64/insn/emulate.(*Op).Finish", "sonde/arch/amd64/prologue.(*Check).Skip", "sonde/kprobes.RegisterKprobe", "sonde/kprobes.trampoline", "sonde/kprobes.detour"},
	"notifier":          {"sonde/kernel/notifier.(*Chain).Walk"},
	"text":              {"sonde/kernel/text.(*Batch).Commit"},
	"switch of threads": {"runtime.sondeSyscall", "runtime.sondeDispatch", "runtime.sondePick", "runtime.sondeResume"},
}

func blacklistComplete(t *suites.T) {
	for kind, names := range handling {
		for _, name := range names {
			if _, err := kallsyms.Kernel().Addr(name); err != nil {
				name += ".abi0" // written in assembly
			}
			if reason(t, name) == "" {
				t.Errorf("%s: %s may be probed, or is no more", kind, name)
			}
		}
	}
}
