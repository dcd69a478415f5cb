//go:build tamago

package console

import (
	"fmt"
	"io"

	"sonde/kernel/screen"
	"sonde/kernel/serial"
)

// Set is consoles: bit i is the serial line number i of lines, the highest bit the screen.
type Set uint8

// Screen is the screen, with its keyboard.
const Screen Set = 1 << 7

// MaxLines is how many serial lines there can be.
const MaxLines = 4

// Written at boot, before the other CPUs run:
var (
	lines  [MaxLines]serial.Port
	nLines int

	// logTo gets the log, and terminal is where TTY is: what is typed there counts.
	logTo, terminal Set
)

// Add opens a serial port and returns the set that is it; 0 if none answers there, or there
// is no room. A port that is in use already is only found again.
//
// Context: boot, before the runtime.
func Add(p *serial.Port) Set {
	for i := range lines[:nLines] {
		if lines[i].Base == p.Base && lines[i].Memory == p.Memory {
			return 1 << i
		}
	}
	if nLines == MaxLines || !p.Open() {
		return 0
	}
	lines[nLines] = *p
	nLines++
	return 1 << (nLines - 1)
}

// Lines returns the serial lines: whoever maps registers says so in At.
//
// Context: boot.
func Lines() []serial.Port { return lines[:nLines] }

// Choose says where the log goes, and where the terminal is.
//
// Context: boot, before the other CPUs run.
func Choose(log, term Set) { logTo, terminal = log, term }

// PortRange is a range of I/O ports.
type PortRange struct {
	Name     string
	Start, N uint64
}

// Ports returns the I/O ports of the consoles.
func Ports() (all []PortRange) {
	for i := range Lines() {
		if p := &lines[i]; !p.Memory {
			all = append(all, PortRange{"serial", p.Base, serial.Registers})
		}
	}
	if keyboardWorks {
		all = append(all, PortRange{"keyboard", kbdData, 1}, PortRange{"keyboard", kbdStatus, 1})
	}
	return all
}

// Show prints /proc/consoles. The one that is marked with C is the terminal.
//
// Source: Linux, show_console_dev() in fs/proc/consoles.c.
func Show(w io.Writer) {
	line := func(set Set, name, can, kind string, major, minor uint8) {
		if (logTo|terminal)&set == 0 {
			return
		}
		preferred := " "
		if terminal&set != 0 {
			preferred = "C"
		}
		fmt.Fprintf(w, "%-20s %s (E%s p%s) %4d:%d\n", name, can, preferred, kind, major, minor)
	}
	if screen.Main.On() {
		line(Screen, "tty0", "RW-", "  ", 4, 1)
	}
	const serialMajor, serialMinor = 4, 64
	for i := range Lines() {
		p := &lines[i]
		line(1<<i, p.Name, "RW-", " a", serialMajor, serialMinor+p.Minor)
	}
}
