//go:build tamago && !nolinux

package examples

import (
	"sonde/arch/amd64"
	"sonde/uprobes"
)

func init() { programs = inPrograms{} }

// inPrograms is what the ready-made modules ask of programs.
type inPrograms struct{}

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
