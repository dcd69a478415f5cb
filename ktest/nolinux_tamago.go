//go:build tamago && nolinux

package ktest

import "sonde/shell"

func preparePrograms(*shell.Machine) {}
