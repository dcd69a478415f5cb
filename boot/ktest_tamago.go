//go:build tamago && ktest

package main

import "sonde/ktest"

func init() { commands = append(commands, ktest.Commands...) }
