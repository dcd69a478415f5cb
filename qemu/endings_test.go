package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// An ending is what an argument of the crash command comes to. log is a regexp
// for the console: what happened, in words of its own. A deadlock is none: the
// runtime does not notice it as long as any goroutine sleeps.
type ending struct {
	kind   string
	crash  bool
	memory string
	log    string
}

var endings = []ending{
	{"panic", true, "", `(?m)^panic: crash: asked for`},
	{"stackoverflow", true, "", `fatal error: stack overflow`},
	{"trapoverflow", true, "", `BUG: trap stack overflow at 0x`},
	{"doublefault", true, "", `#DF double fault, error code`},
	{"exception", true, "", `#UD invalid opcode`},
	{"wildpointer", true, "", `(?s)BUG: the kernel tried to write 0x123456789000, in the lower half.*unexpected fault address 0x123456789000`},
	{"wildjump", true, "", `BUG: the kernel tried to execute 0x123456789000, in the lower half`},
	{"oom", true, "128M", `(?i)out of memory`},
	{"int3", false, "", `unexpected int3 at sonde/arch/amd64/trap\.Breakpoint\S*`},
	{"nil-recover", false, "", ``},
	{"ring3-doublefault", true, "", `#DF double fault, error code`},
	{"ring3-machinecheck", true, "", `#MC machine check, error code`},
}

// onMicroVM are those that also end so on a microvm: by Go, by the processor, and without a crash. All
// do in the long run.
var onMicroVM = []string{"panic", "doublefault", "int3"}

// TestEndings makes the kernel go wrong in every way it has a rule for. A
// crash must say what happened; nothing may end in a reset without a message.
func TestEndings(t *testing.T) {
	runsBeside(t)
	for _, e := range endings {
		t.Run(e.kind, func(t *testing.T) {
			machines := []string{"q35"}
			if long() || slices.Contains(onMicroVM, e.kind) {
				machines = append(machines, "microvm")
			}
			for _, name := range machines {
				t.Run(name, func(t *testing.T) {
					r := bootScript(t, normalImage, machine.Config{
						Machine: name, SMP: 2, Memory: e.memory, Script: "crash " + e.kind + "; echo alive",
					})
					if !regexp.MustCompile(e.log).Match(r.Log) {
						t.Errorf("the console does not say %q\n%s", e.log, said(r))
					} else if e.crash {
						checkCrash(t, r)
						if name == "q35" && !bytes.Contains(r.Log, []byte("Hardware name: QEMU Standard PC (Q35 + ICH9, 2009), BIOS ")) {
							t.Errorf("it does not say on what machine\n%s", said(r))
						}
					} else if r.Crash || r.Status != 0 || string(r.Stdout) != "alive\n" {
						t.Errorf("crash %v (%s), want the kernel to go on\n%s", r.Crash, r.Reason, said(r))
					}
				})
			}
		})
	}
}

// crashReport is what every crash must say, in this order.
var crashReport = []string{
	`CPU: \d+ goroutine: \d+`,
	`RIP: (0008:(runtime|main|sonde/\S+)\.\S+\+0x|0023:0x400)`,
	`RSP: [0-9a-f]{4}:[0-9a-f]{16} EFLAGS: [0-9a-f]{8}`,
	`RAX: [0-9a-f]{16} RBX: `,
	`R13: [0-9a-f]{16} R14: [0-9a-f]{16} R15: [0-9a-f]{16}`,
	`CR2: [0-9a-f]{16}`,
	`Call Trace:`,
	`\]  ((runtime|main|sonde/\S+)\.\S+\+0x|\(no stack known here\))`,
	`Kernel panic - not syncing: \S.*---\r?\n$`, // nothing comes after it
}

func checkCrash(t *testing.T, r machine.Result) {
	t.Helper()
	if !r.Crash || r.Status != machine.StatusCrash || len(r.Stdout) > 0 {
		t.Errorf("crash %v (%s), want one\n%s", r.Crash, r.Reason, said(r))
		return
	}
	if !regexp.MustCompile("(?s)" + strings.Join(crashReport, ".*")).Match(r.Log) {
		for _, want := range crashReport {
			if !regexp.MustCompile(want).Match(r.Log) {
				t.Errorf("the console does not say %q", want)
			}
		}
		t.Errorf("no full report of a crash\n%s", said(r))
	}
	if n := bytes.Count(r.Log, []byte("Kernel panic")); n > 1 {
		t.Errorf("it panics %d times\n%s", n, said(r))
	}
}

// TestEveryKindOfCrashIsTested asks the kernel which kinds there are.
func TestEveryKindOfCrashIsTested(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{Script: "help crash"})
	_, list, _ := strings.Cut(string(r.Stdout), "crash the kernel:")
	kinds := strings.Fields(strings.NewReplacer(";", "", "or do what it survives:", "").Replace(list))
	for _, kind := range kinds {
		if !slices.ContainsFunc(endings, func(e ending) bool { return e.kind == kind }) {
			t.Errorf("crash %s has no line in endings", kind)
		}
	}
	if len(kinds) < 8 {
		t.Errorf("kinds: %q\n%s", kinds, said(r))
	}
}
