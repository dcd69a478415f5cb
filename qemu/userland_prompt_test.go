package main

import (
	"testing"

	"sonde/qemu/machine"
)

// TestShellAtThePrompt: /bin/sh on the console is a shell to work with. ^C ends what it
// runs, a program or a loop of its own, and not the shell; a statement may take several
// lines. ^C used to end the shell.
func TestShellAtThePrompt(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{SMP: 2})
	c.enter("/bin/sh")
	c.see(`\$ $`)
	c.key("echo u''p; sleep 1000; echo n''ever\r")
	c.see(`\nup\r\n`)
	c.key("\x03")
	c.see(`\^C[^$]*\n?\$ $`)
	c.key("echo u''p; while true; do x=1; done\r")
	c.see(`\nup\r\n`)
	c.key("\x03")
	c.see(`\^C[^$]*\n?\$ $`)
	c.key("for i in a b\r")
	c.see(`> $`)
	c.key("do echo alive-$i; done\r")
	c.see(`\nalive-a\r\nalive-b\r\n\$ $`)
	c.key("exit 9\r")
	c.enter("echo $?")
	c.see(`(?m)^9\r?$`)
	c.enter("poweroff")
	if r := c.wait(); r.Status != 0 || r.Crash {
		t.Error(said(r))
	}
}
