//go:build tamago && !nolinux

package ktest

import (
	"sonde/qemu/suites"
	_ "sonde/qemu/suites/hostile"
	_ "sonde/qemu/suites/programs"
	_ "sonde/qemu/suites/uprobes"
	_ "sonde/qemu/suites/user"
	"sonde/shell"
)

func preparePrograms(m *shell.Machine) { suites.Programs = shell.TableOf(m) }
