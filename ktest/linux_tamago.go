//go:build tamago && !nolinux

package ktest

import (
	"sonde/ktest/suites"
	_ "sonde/ktest/suites/hostile"
	_ "sonde/ktest/suites/programs"
	_ "sonde/ktest/suites/tracepoints"
	_ "sonde/ktest/suites/uprobes"
	_ "sonde/ktest/suites/user"
	"sonde/shell"
)

func preparePrograms(m *shell.Machine) { suites.Programs = shell.TableOf(m) }
