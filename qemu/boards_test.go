package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestBoards boots the image as a PC does: by BIOS and UEFI, from CD, stick and network,
// with GRUB, which gives the kernel its command line byte for byte. What the serial line
// shows is on the screen as well, whatever its pixels are. The long run has each medium with each
// firmware; TestWithoutAKeyboard has a CD by UEFI in every run.
func TestBoards(t *testing.T) {
	runsBeside(t)
	for _, b := range []struct {
		name string
		machine.Config
		mib                 int
		width, height, bits uint32
		long                bool
	}{
		{"bios-cd", machine.Config{From: machine.CD, Machine: "pc", Memory: "128M"}, 128, 1024, 768, 32, true},
		{"bios-usb", machine.Config{From: machine.USB, SMP: 8, Memory: "1G"}, 1 << 10, 1024, 768, 16, false},
		{"bios-net", machine.Config{From: machine.Net, SMP: 2}, 256, 1280, 1024, 24, false},
		{"uefi-net", machine.Config{From: machine.Net, UEFI: true, SMP: 2}, 256, 1024, 768, 32, true},
		{"uefi-usb", machine.Config{From: machine.USB, UEFI: true, SMP: 4, Memory: "6G"}, 6 << 10, 1024, 768, 32, false},
		{"uefi-cd", machine.Config{From: machine.CD, UEFI: true, Machine: "pc", SMP: 2}, 256, 1024, 768, 32, true},
	} {
		t.Run(b.name, func(t *testing.T) {
			if b.long && !long() {
				t.Skip("another medium and another firmware are enough: for make long")
			}
			t.Parallel()
			b.Append = `keymap=us say="two  words" a\;b`
			var monitor string
			b.Extra, monitor = withMonitor(t)
			b.Image = askFor(t, imagePath(t, normalImage), b.width, b.height, b.bits)
			c := startConsole(t, b.Config)
			log := c.seeIn(bootLimit, prompt)
			for _, want := range []string{"01 02 03 04 05 06 07 08 09", "Command line: " + b.Append + "\r\n", "DMI: QEMU Standard PC ("} {
				if !strings.Contains(log, want) {
					t.Errorf("the log does not say %q\n%s", want, log)
				}
			}
			c.key("lscpu | grep 'CPU(s):'; free -m; cat /proc/iomem | grep BOOTFB; cat /proc/consoles\r")
			out := c.seeIn(bootLimit, `ttyS0 +RW- \(EC p a\) +4:64\r?\n`)
			if n := number(out, `CPU\(s\): +(\d+)`); n != max(b.SMP, 1) {
				t.Errorf("%d CPUs, want %d\n%s", n, b.SMP, out)
			}
			// UEFI keeps some memory for itself.
			if total := number(out, `Mem: +(\d+)`); total < b.mib*15/16-32 || total > b.mib {
				t.Errorf("heap of %d MiB on a machine of %d\n%s", total, b.mib, out)
			}
			if want := fmt.Sprintf("%08x : BOOTFB", 0xfd000000+b.width*b.height*b.bits/8-1); !strings.Contains(out, want) && !b.UEFI || !strings.Contains(out, "BOOTFB") {
				t.Errorf("the screen's memory is not fd000000-%s\n%s", want, out)
			}
			screen := dial(t, monitor)
			for _, want := range []string{"02 03 04 05 06 07 08 09\n", "Command line: " + b.Append + "\n", "DMI: QEMU Standard PC (",
				fmt.Sprintf("CPU(s):              %d\n", max(b.SMP, 1)), "tty0                 RW- (EC p  )    4:1\nttyS0"} {
				awaitPicture(t, screen, want)
			}
			c.key("poweroff\r")
			if r := c.wait(); r.Crash || r.Status != 0 {
				t.Error(said(r))
			}
		})
	}
}

// askFor returns a copy of the image at path that asks the loader for another picture.
func askFor(t *testing.T, path string, width, height, bits uint32) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tag := func(width, height, bits uint32) []byte {
		head := []byte{5, 0, 1, 0, 20, 0, 0, 0}
		for _, n := range []uint32{width, height, bits} {
			head = binary.LittleEndian.AppendUint32(head, n)
		}
		return head
	}
	at := bytes.Index(b, tag(1024, 768, 32))
	if at < 0 {
		t.Fatal("the image asks for no picture")
	}
	copy(b[at:], tag(width, height, bits))
	path = filepath.Join(t.TempDir(), "sonde.elf")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMenu chooses each entry except the first on the serial line, and checks its effect: the last of them in
// every run, all in the long one.
func TestMenu(t *testing.T) {
	runsBeside(t)
	for i, e := range []struct{ title, line, script, shows string }{
		{"one processor", "maxcpus=1", "lscpu | grep 'CPU(s):'", `CPU\(s\): +1\r?\n`},
		{"verbose", "loglevel=8", "cat /proc/cmdline", `\nloglevel=8 *\r?\n`},
		{"with a memory test", "memtest", "dmesg | grep memtest:", `memtest: 2\d\d MiB hold what is written to them, 0 MiB do not`},
	} {
		t.Run(e.line, func(t *testing.T) {
			if e.line != "memtest" && !long() {
				t.Skip("one entry is enough: for make long")
			}
			t.Parallel()
			c := startConsole(t, machine.Config{From: machine.USB, Menu: true, SMP: 2, GRUB: "set timeout=-1\n"})
			c.seeIn(bootLimit, "sonde, "+e.title)
			c.key(strings.Repeat("\x1b[B", i+1) + "\r")
			c.seeIn(bootLimit, "Command line: "+e.line+` *\r?\n`)
			c.seeIn(bootLimit, prompt)
			c.key(e.script + "\r")
			c.seeIn(bootLimit, e.shows)
			c.key("poweroff\r")
			if r := c.wait(); r.Crash || r.Status != 0 {
				t.Error(said(r))
			}
		})
	}
}

// TestWithoutAKeyboard: on a PC without a PS/2 controller the prompt says what to do, and two
// entries of the menu show the machine page by page, before that prompt.
func TestWithoutAKeyboard(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	for _, b := range []struct {
		machine.Config
		entry int
		title string
		shows []string
	}{
		{machine.Config{From: machine.USB}, 4, "run the checks and show them", []string{`memtest: 2\d\d MiB hold`, `CPU\(s\): `, `i8042|timer`, `pre_handler: p->addr=`}},
		{machine.Config{From: machine.CD, UEFI: true}, 5, "no keyboard: show the machine", []string{`tty0 `, `CPU\(s\): `, `ISA bridge: Intel Corporation`, `BOOTFB`}},
	} {
		t.Run(b.title, func(t *testing.T) {
			t.Parallel()
			var monitor string
			b.SMP, b.Menu, b.Plain, b.GRUB = 2, true, true, "set timeout=-1\n"
			b.Extra, monitor = withMonitor(t)
			b.Extra = append(b.Extra, "-machine", "i8042=off")
			c := startConsole(t, b.Config)
			if log := c.seeIn(bootLimit, "sonde, "+b.title); strings.Contains(log, "error: ") {
				t.Errorf("GRUB lacks something: %s", log)
			}
			c.key(strings.Repeat("\x1b[B", b.entry) + "\r")
			for _, want := range b.shows {
				c.seeIn(bootLimit, want)
			}
			c.seeIn(bootLimit, "There is no keyboard: ")
			c.seeIn(bootLimit, prompt)
			awaitPicture(t, dial(t, monitor), "They are shown page by page, five seconds each.\nsonde#")
			c.key("poweroff\r")
			if r := c.wait(); r.Crash || r.Status != 0 {
				t.Error(said(r))
			}
		})
	}
}

// TestScriptTurnsAPCOff: without QEMU's own devices the end of a script is that of the
// machine, by ACPI. It used to halt.
func TestScriptTurnsAPCOff(t *testing.T) {
	runsBeside(t)
	for _, m := range []string{"q35", "pc"} {
		r := bootScript(t, normalImage, machine.Config{Machine: m, Plain: true, Append: "maxcpus=1 memtest", SMP: 2,
			Script: "lscpu | grep 'CPU(s):'"})
		if log := string(r.Log); r.Status != 0 || number(log, `CPU\(s\): +(\d+)`) != 1 || number(log, `memtest: (\d+) MiB hold .* 0 MiB do not`) < 200 {
			t.Errorf("%s: %s", m, said(r))
		}
	}
}
