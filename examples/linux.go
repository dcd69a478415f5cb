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

// inPrograms is what the ready-made modules ask of programs.
type inPrograms struct{}

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
