package main

import (
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestBoards boots the image as a PC does: by BIOS and UEFI, from CD, stick and network,
// with GRUB. What the launcher gives QEMU directly reaches the kernel byte for byte.
func TestBoards(t *testing.T) {
	runsScripts(t)
	for _, c := range []struct {
		name string
		machine.Config
		mib int
	}{
		{"bios-cd", machine.Config{From: machine.CD, Machine: "pc", Memory: "128M"}, 128},
		{"bios-usb", machine.Config{From: machine.USB, SMP: 8, Memory: "1G"}, 1 << 10},
		{"bios-net", machine.Config{From: machine.Net, SMP: 2}, 256},
		{"uefi-usb", machine.Config{From: machine.USB, UEFI: true, SMP: 4, Memory: "6G"}, 6 << 10},
		{"uefi-cd", machine.Config{From: machine.CD, UEFI: true, Machine: "pc", SMP: 2}, 256},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.Script = `echo "two  words"; lscpu | grep CPU(s): ; free -m`
			r := bootScript(t, normalImage, c.Config)
			out := string(r.Stdout)
			if r.Crash || r.Status != 0 || !strings.HasPrefix(out, "two  words\n") {
				t.Fatal(said(r))
			}
			if n := number(out, `CPU\(s\): +(\d+)`); n != max(c.SMP, 1) {
				t.Errorf("%d CPUs, want %d\n%s", n, c.SMP, said(r))
			}
			if !strings.Contains(string(r.Log), "DMI: QEMU Standard PC (") {
				t.Errorf("it does not know the board's name\n%s", said(r))
			}
			// UEFI keeps some for itself.
			if total := number(out, `Mem: +(\d+)`); total < c.mib*15/16-32 || total > c.mib {
				t.Errorf("heap of %d MiB on a machine of %d\n%s", total, c.mib, said(r))
			}
		})
	}
}

// TestScriptTurnsAPCOff: without QEMU's own devices the end of a script is that of the
// machine, by ACPI. It used to halt.
func TestScriptTurnsAPCOff(t *testing.T) {
	runsScripts(t)
	for _, m := range []string{"q35", "pc"} {
		r := bootScript(t, normalImage, machine.Config{Machine: m, Plain: true, Append: "maxcpus=1 memtest", SMP: 2,
			Script: "lscpu | grep CPU(s):"})
		if log := string(r.Log); r.Status != 0 || number(log, `CPU\(s\): +(\d+)`) != 1 || number(log, `memtest: (\d+) MiB hold .* 0 MiB do not`) < 200 {
			t.Errorf("%s: %s", m, said(r))
		}
	}
}
