package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// firmwareTime is how long firmware and GRUB may take, on a busy host.
const firmwareTime = 12 * time.Minute

// seeLate is see for what firmware and GRUB come before.
func (c *console) seeLate(pattern string) string {
	c.Helper()
	text, err := c.Expect(pattern, firmwareTime)
	if err != nil {
		c.Fatal(err)
	}
	return text
}

// TestFlightRecorder: a board that dies tells why, by its next boot. Firmware and GRUB
// leave the recorder's memory alone.
func TestFlightRecorder(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct {
		name string
		machine.Config
	}{
		{"pvh", machine.Config{SMP: 2}},
		{"microvm", machine.Config{Machine: "microvm", Memory: "128M"}},
		{"bios-usb", machine.Config{From: machine.USB, Machine: "pc", Memory: "128M"}},
		{"uefi-cd", machine.Config{From: machine.CD, UEFI: true, SMP: 2}},
	} {
		if c.UEFI && !long() {
			continue // OVMF twice more, for what SeaBIOS and PVH show
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.Plain, c.Resets = true, true
			c.Append = "kprobe=sonde/shell.uname"
			m := startConsole(t, c.Config)
			m.seeLate("boot: shell after")
			m.enter("dmesg -p")
			m.seeLate("memory holds nothing of an earlier boot")
			m.enter("uname")
			m.enter("crash panic")
			m.seeLate("end Kernel panic")
			if err := m.Reset(); err != nil {
				t.Fatal(err)
			}
			for _, b := range shownBy(t) {
				_, text, _ := strings.Cut(b.lines[0], "] ")
				m.seeLate(regexp.QuoteMeta(text) + `\r\n`)
			}
			m.enter("dmesg -p")
			told := m.seeLate(`--- the last hits of probes ---\r\n[^\n]*\n`)
			for _, want := range []string{
				"--- boot 1 since power-on crashed; it had reached stage 12 ---", "Command line: ", "boot: shell after", // the log
				"Go runtime: exit status 2", "Kernel panic - not syncing: Go runtime gave up",
				"--- output of the Go runtime ---", "panic: crash: asked for", "goroutine ",
				"] kprobe=sonde/shell.uname: ax=",
			} {
				if !strings.Contains(told, want) {
					t.Errorf("dmesg -p does not say %q\n%s", want, told)
				}
			}
			m.enter("poweroff")
			m.wait()
		})
	}
}

// TestFlightRecorderOfManyBoots: each boot shows the one before, however that ended; what
// does not fit its checksum is not shown.
func TestFlightRecorderOfManyBoots(t *testing.T) {
	runsBeside(t)
	m := startConsole(t, machine.Config{SMP: 2, Plain: true, Resets: true, Append: "panic=1"})
	tells := func(says string) {
		t.Helper()
		m.seeLate("flight: " + says)
		m.enter("dmesg -p | head -n 1")
		m.seeLate("--- " + says)
	}
	m.enter("crash exception") // which starts it again
	tells("boot 1 since power-on crashed")
	if err := m.Reset(); err != nil {
		t.Fatal(err)
	}
	tells("boot 2 since power-on was reset unexpectedly; it had reached stage 12")
	m.enter("reboot")
	tells("boot 3 since power-on restarted the machine")
	m.enter("dmesg -p | grep flight:")
	m.seeLate(`flight: boot 2 since power-on was reset`)
	m.enter("peek 3e00010 8") // the number of a boot
	m.seeLate(`\n0*[34]\r\n`)
	m.enter("poke 3e00010 9 8")
	m.enter("reboot")
	m.seeLate("flight: the record of the previous boot has a wrong checksum: nothing of it is shown")
	m.enter("dmesg -p")
	m.seeLate("dmesg: the record of the previous boot has a wrong checksum")
	m.enter("reboot")
	m.seeLate("flight: boot 1 since power-on restarted")
	m.enter("poweroff")
	m.wait()
}
