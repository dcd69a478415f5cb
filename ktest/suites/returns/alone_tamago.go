//go:build tamago

package returns

import (
	"errors"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("returns/runtime_functions_alone", alone)
	suites.Add("returns/users_of_their_return_address_are_refused", usersRefused)
}

// readers are functions of the runtime that read their own return address, or are
// handed it, and use it: to find deferred calls, to walk the stack, to say what
// created a goroutine. They are always tried.
var readers = []string{"runtime.gopanic", "runtime.Goexit", "runtime.panicBounds", "runtime.panicBounds64",
	"runtime.deferproc", "runtime.deferprocStack", "runtime.deferprocat", "runtime.deferrangefunc", "runtime.deferreturn",
	"runtime.entersyscall", "runtime.entersyscallblock", "runtime.callers", "runtime.Callers", "runtime.Stack",
	"runtime.newproc", "runtime.panicshift", "runtime.panicwrap", "runtime.(*_panic).start", "runtime.chansend1",
	"runtime.gorecover", "runtime.sigpanic", "runtime.nanotime1", "time.now"}

// every: of the other functions, one in so many is tried, but in the long run; a third of them where
// rounds are few.
const every = 192

// alone sets a return probe on one function of the runtime at a time and runs life: the
// result must be the same as without.
func alone(t *suites.T) {
	t.OneProcessor()
	want := life()
	if have := life(); have != want {
		t.Fatalf("without probes:\n%s\nand again:\n%s", want, have)
	}
	must := map[string]bool{}
	for _, name := range readers {
		must[name] = true
	}
	n, refusals, hits, nth := 0, 0, 0, 3*every/suites.Rounds(3, 3)
	for fn := range kallsyms.Kernel().Text {
		if !must[fn.Name] && !strings.HasPrefix(fn.Name, "runtime.") {
			continue
		}
		if n++; !must[fn.Name] && !suites.Long() && n%nth != 0 {
			continue
		}
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: uintptr(fn.Addr)}, Handler: nothing, MaxActive: 100}
		err := kprobes.RegisterKretprobe(rp)
		if err != nil {
			refusals++
			if must[fn.Name] || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EILSEQ) {
				t.Errorf("%s: %v", fn.Name, err)
			}
			continue
		}
		printk.Info("return probe on %s", fn.Name) // should the machine die of it
		have := life()
		if rp.KP.Ledger().Entered > 0 {
			hits++
		}
		kprobes.UnregisterKretprobe(rp)
		if have != want {
			t.Errorf("%s: with a return probe\n%s\nwithout\n%s", fn.Name, have, want)
		}
		if l := rp.Ledger(); l.Unexplained() != 0 {
			t.Errorf("%s: account %+v", fn.Name, l)
		}
	}
	t.Logf("%d functions, %d refused, %d entered", n, refusals, hits)
}

func usersRefused(t *suites.T) {
	for _, name := range []string{"runtime.debugCallV2", "syscall.rawVforkSyscall", "runtime.vgetrandom1"} {
		rp := &kprobes.Kretprobe{Handler: nothing}
		rp.KP.SymbolName = name
		if err := kprobes.RegisterKretprobe(rp); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "return address") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
