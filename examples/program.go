//go:build tamago

package examples

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kernel/refusal"
	"sonde/kprobes"
)

// The target of a ready-made module is a function of the kernel or of a program, in all
// processes that run its file: target=/bin/myprog:myfunc. Handlers of a program's probes
// run in the thread that hit the probe, and may lock and allocate.

// inProgram splits the name of a program's function.
func inProgram(target string) (path, symbol string, ok bool) {
	path, symbol, ok = strings.Cut(target, ":")
	return path, symbol, ok && strings.HasPrefix(path, "/")
}

// Bounds of the parameters of the ready-made modules: seconds, and lines or calls.
const (
	maxInterval = 24 * 60 * 60
	maxShown    = 100_000
	maxPid      = 1 << 22 // Linux's greatest pid_max
)

// validTarget refuses an incomplete name of a program's function.
func validTarget(target string) error {
	path, symbol, ok := inProgram(target)
	switch {
	case target == "":
		return errors.New("it is empty; give the function, as in target=vfs.Read")
	case ok && symbol == "":
		return fmt.Errorf("the file %s without a function; give both, as in target=%s:FUNCTION", path, path)
	case !ok && strings.HasPrefix(target, "/"):
		return fmt.Errorf("the file %s without a function; give both, as in target=%s:FUNCTION", target, target)
	}
	return nil
}

// probed is a probe of either kind.
type probed struct {
	ledger func() probe.Ledger
	remove func()
}

// programs is how the modules probe programs; nil: this kernel runs none.
var programs interface {
	// entry and ret call f when a function is entered, or has returned. Errors: those of registering.
	entry(path, symbol string, f func(*amd64.Regs)) (*probed, error)
	ret(path, symbol string, f func(*amd64.Regs)) (*probed, error)
	// functions returns the names of a program's functions. Errors: those of opening it; ENOEXEC.
	functions(path string) (names []string, err error)
	// isGo reports whether a program passes arguments as Go does. Errors: as functions.
	isGo(path string) (bool, error)
	// thread is the number of the thread that has hit a probe.
	thread() int
	// stack returns the functions that a hit is in, the innermost first.
	stack(r *amd64.Regs) []string
}

// errNoPrograms refuses a program's function where programs is nil.
func errNoPrograms(path string) error {
	return refusal.New(syscall.ENOSYS, "%s: no programs can run here", path)
}

// onEntry sets a probe on the entry of target, with the handler for its kind.
//
// Errors: those of registering it; ENOSYS.
func onEntry(target string, k func(*kprobes.Kprobe, *amd64.Regs) int, u func(*amd64.Regs)) (*probed, error) {
	if path, symbol, ok := inProgram(target); ok {
		if programs == nil {
			return nil, errNoPrograms(path)
		}
		return programs.entry(path, symbol, u)
	}
	p := &kprobes.Kprobe{SymbolName: target, PreHandler: k}
	return &probed{p.Ledger, func() { kprobes.UnregisterKprobe(p) }}, kprobes.RegisterKprobe(p)
}

// onReturn does the same for returns; active is how many calls at a time.
//
// Errors: those of registering it; ENOSYS.
func onReturn(target string, active int, k func(*kprobes.KretprobeInstance, *amd64.Regs) int, u func(*amd64.Regs)) (*probed, error) {
	if path, symbol, ok := inProgram(target); ok {
		if programs == nil {
			return nil, errNoPrograms(path)
		}
		return programs.ret(path, symbol, u)
	}
	p := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: target}, Handler: k, MaxActive: active}
	return &probed{p.Ledger, func() { kprobes.UnregisterKretprobe(p) }}, kprobes.RegisterKretprobe(p)
}
