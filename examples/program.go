//go:build tamago

package examples

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kernel/program"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/uprobes"
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
		return fmt.Errorf("the file %s, and no function of it; give both, as in target=%s:FUNCTION", path, path)
	case !ok && strings.HasPrefix(target, "/"):
		return fmt.Errorf("the file %s, and no function of it; give both, as in target=%s:FUNCTION", target, target)
	}
	return nil
}

// probed is a probe of either kind.
type probed struct {
	ledger func() probe.Ledger
	remove func()
}

// onEntry sets a probe on the entry of target, with the handler for its kind.
//
// Errors: those of registering it.
func onEntry(target string, k func(*kprobes.Kprobe, *amd64.Regs) int, u func(*amd64.Regs)) (*probed, error) {
	if path, symbol, ok := inProgram(target); ok {
		p := &uprobes.Uprobe{Path: path, Symbol: symbol, Handler: func(_ *uprobes.Uprobe, r *amd64.Regs) { u(r) }}
		return &probed{p.Ledger, func() { uprobes.UnregisterUprobe(p) }}, uprobes.RegisterUprobe(p)
	}
	p := &kprobes.Kprobe{SymbolName: target, PreHandler: k}
	return &probed{p.Ledger, func() { kprobes.UnregisterKprobe(p) }}, kprobes.RegisterKprobe(p)
}

// onReturn does the same for returns; active is how many calls at a time.
//
// Errors: those of registering it.
func onReturn(target string, active int, k func(*kprobes.KretprobeInstance, *amd64.Regs) int, u func(*amd64.Regs)) (*probed, error) {
	if path, symbol, ok := inProgram(target); ok {
		p := &uprobes.Uretprobe{Handler: func(_ *uprobes.UretprobeInstance, r *amd64.Regs) { u(r) }}
		p.U.Path, p.U.Symbol = path, symbol
		return &probed{p.U.Ledger, func() { uprobes.UnregisterUretprobe(p) }}, uprobes.RegisterUretprobe(p)
	}
	p := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: target}, Handler: k, MaxActive: active}
	return &probed{p.Ledger, func() { kprobes.UnregisterKretprobe(p) }}, kprobes.RegisterKretprobe(p)
}

// readProgram calls f with what is known about a program's functions.
//
// Errors: those of opening it; ENOEXEC.
func readProgram(path string, f func(*program.File)) error {
	file, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return err
	}
	defer vfs.Close(file)
	p, err := program.Open(file)
	if err != nil {
		return refusal.New(syscall.ENOEXEC, "%s: not a program: %v", path, err)
	}
	f(p)
	return nil
}
