//go:build tamago && !nolinux

package examples

import (
	"sonde/arch/amd64"
	"sonde/linux/program"
	"sonde/uprobes"
)

func init() { programs = inPrograms{} }

// inPrograms is what the ready-made modules ask of programs.
type inPrograms struct{}

func (inPrograms) isGo(path string) (is bool, err error) {
	err = program.Read(path, func(p *program.File) error { is = p.Go(); return nil })
	return is, err
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
