//go:build tamago && !nolinux

package examples

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/program"
	"sonde/uprobes"
)

func init() { programs = inPrograms{} }

// inPrograms probes programs for the ready-made modules.
type inPrograms struct{}

func (inPrograms) entry(path, symbol string, f func(*amd64.Regs)) (*probed, error) {
	p := &uprobes.Uprobe{Path: path, Symbol: symbol, Handler: func(_ *uprobes.Uprobe, r *amd64.Regs) { f(r) }}
	return &probed{ledger: p.Ledger, remove: func() { uprobes.UnregisterUprobe(p) }}, uprobes.RegisterUprobe(p)
}

func (inPrograms) ret(path, symbol string, f func(*amd64.Regs)) (*probed, error) {
	p := &uprobes.Uretprobe{Handler: func(_ *uprobes.UretprobeInstance, r *amd64.Regs) { f(r) }}
	p.U.Path, p.U.Symbol = path, symbol
	return &probed{ledger: p.U.Ledger, remove: func() { uprobes.UnregisterUretprobe(p) }}, uprobes.RegisterUretprobe(p)
}

func (inPrograms) isGo(path string) (is bool, err error) {
	err = readProgram(path, func(p *program.File) { is = p.Go() })
	return is, err
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

func (inPrograms) thread() int { return uprobes.Current().TID }

func (inPrograms) stack(r *amd64.Regs) (names []string) {
	for _, c := range uprobes.Backtrace(r, depth) {
		name := c.Function
		if name == "" {
			name = c.String()
		}
		names = append(names, name)
	}
	return names
}
