package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// press presses keys by QEMU's monitor.
func press(monitor net.Conn, keys ...string) {
	for _, key := range keys {
		fmt.Fprintf(monitor, "sendkey %s\n", key)
	}
}

var typeUname = []string{"u", "n", "a", "m", "e", "spc", "slash", "s", "ret"} // on a German keyboard

const unameDone = `uname -s\r?\n(\x1b\[[0-9;?]*[A-Za-z])*sonde\r?\n`

// TestUSBKeyboard: without a PS/2 controller the prompt takes keyboards at USB ports: one that is there from the
// beginning, one plugged in later, and one behind two hubs; and while nobody types, no controller interrupts.
func TestUSBKeyboard(t *testing.T) {
	runsBeside(t)
	for _, b := range []struct {
		name, controller, how string
		long                  bool
	}{
		{"MSI-X", "qemu-xhci,id=x", "MSI-X", false},
		{"MSI", "nec-usb-xhci,id=x,msix=off", "MSI", true},
		{"the pin", "nec-usb-xhci,id=x,msix=off,msi=off", "its pin", false},
	} {
		t.Run(b.name, func(t *testing.T) {
			if b.long && !long() {
				t.Skip("the other ways are enough: for make long")
			}
			t.Parallel()
			extra, socket := withMonitor(t)
			c := startConsole(t, machine.Config{SMP: 2, From: machine.USB, Plain: true, Append: "keymap=de",
				Extra: append(extra, "-machine", "i8042=off", "-device", b.controller, "-device", "usb-kbd,id=k,bus=x.0,port=1")})
			log := c.seeIn(bootLimit, prompt)
			if strings.Contains(log, "There is no keyboard") || !strings.Contains(log, "interrupts by "+b.how) || !strings.Contains(log, "speed: keyboard") {
				t.Errorf("there is a keyboard, and it interrupts by %s:\n%s", b.how, log)
			}
			monitor := dial(t, socket)
			press(monitor, typeUname...)
			c.see(unameDone)
			c.key("a=$(grep xhci /proc/interrupts); sleep 3; b=$(grep xhci /proc/interrupts); [ \"$a\" = \"$b\" ] && echo quiet; echo $b\r")
			c.see(`\nquiet\r?\n`)

			fmt.Fprintln(monitor, "device_del k")
			fmt.Fprintln(monitor, "device_add usb-hub,id=h,bus=x.0,port=2")
			c.see(`usb \d-\d+: 0409:55aa, full speed: hub with 8 ports`)
			fmt.Fprintln(monitor, "device_add usb-hub,id=i,bus=x.0,port=2.3")
			fmt.Fprintln(monitor, "device_add usb-kbd,id=l,bus=x.0,port=2.3.8")
			c.see(`usb \d-\d+\.3\.8: 0627:0001, (full|high) speed: keyboard`)
			press(monitor, typeUname...)
			c.see(unameDone)
			fmt.Fprintln(monitor, "device_del h") // with all that is behind it
			fmt.Fprintln(monitor, "device_add usb-kbd,id=m,bus=x.0,port=2")
			c.see(`usb \d-\d+: 0627:0001, (full|high) speed: keyboard`)
			press(monitor, "caps_lock", "u", "caps_lock", "n", "ctrl-u")
			press(monitor, typeUname...)
			c.see(unameDone)
			c.key("ps | grep -c 'usb [0-9]'; poweroff\r")
			if r := c.wait(); r.Crash || r.Status != 0 {
				t.Error(said(r))
			}
		})
	}
}
