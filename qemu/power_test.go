package main

import (
	"bytes"
	"testing"

	"sonde/qemu/machine"
)

// TestPowerInScripts: both end the machine, before what follows them.
func TestPowerInScripts(t *testing.T) {
	runsBeside(t)
	for _, m := range []string{"q35", "microvm"} {
		for _, c := range []struct{ script, says string }{
			{"poweroff", "reboot: Power down"},
			{"reboot", "reboot: Restarting system"},
		} {
			t.Run(c.script+"/"+m, func(t *testing.T) {
				r := bootScript(t, normalImage, machine.Config{Machine: m, SMP: 2, Script: "echo one; " + c.script + "; echo two"})
				if r.Crash || r.Status != 0 || string(r.Stdout) != "one\n" || !bytes.Contains(r.Log, []byte(c.says)) {
					t.Errorf("want %q and the end\n%s", c.says, said(r))
				}
			})
		}
	}
}
