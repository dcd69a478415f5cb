//go:build tamago

// Package console is the kernel's terminal: all that shows text, and all that is typed.
// What is written goes to the serial line and to the screen, as far as there is one;
// input comes from both by interrupt. In script mode the output of commands goes to a port of
// its own, so that the launcher can tell it from the log.
package console

import (
	"errors"
	"sync"
	"unsafe"

	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/screen"
	"sonde/kernel/serial"
	"sonde/kernel/tty"
)

// TTY is the terminal on the consoles: what programs see of it. Who reads Input
// feeds it: the shell, by its Offer.
var TTY = tty.New(raw{}, nil)

// Init makes the serial port interrupt when a byte arrives and, where there is a
// screen, the keyboard, which has the layout called keymap.
//
// Context: goroutine.
func Init(m *acpi.MADT, keymap string) error {
	err := irq.Request(m, serial.IRQ, "ttyS0", receive)
	if err == nil {
		serial.EnableReceive()
	}
	if screen.Main.On() {
		err = errors.Join(err, initKeyboard(m, keymap))
	}
	return err
}

// PortRange is a range of I/O ports.
type PortRange struct {
	Name     string
	Start, N uint64
}

// Ports returns the I/O ports of the consoles.
func Ports() []PortRange {
	all := []PortRange{{"serial", serial.COM1, 8}}
	if screen.Main.On() {
		all = append(all, PortRange{"keyboard", kbdData, 1}, PortRange{"keyboard", kbdStatus, 1})
	}
	return all
}

// Write writes p to all consoles; a newline begins a new line.
//
// Context: any.
func Write(p []byte) {
	serial.Write(p)
	screen.Main.Write(p)
}

// WriteString is Write for a string.
//
// Context: any.
func WriteString(s string) { Write(unsafe.Slice(unsafe.StringData(s), len(s))) }

// Output is the screen side, an io.Writer.
type Output struct{ mu sync.Mutex }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	Write(p)
	return len(p), nil
}

// raw is the screen side for TTY, which makes of a newline what is to be made.
type raw struct{}

// Write implements io.Writer.
func (raw) Write(p []byte) (int, error) {
	serial.WriteRaw(p)
	screen.Main.WriteRaw(p)
	return len(p), nil
}

// Pipe is the launcher's end of a script's output, an io.Writer.
type Pipe struct{ mu sync.Mutex }

// HasPipe reports whether there is one.
func HasPipe() bool { return cpu.In8(exitcode.OutPort) == exitcode.OutPort }

// Write implements io.Writer.
func (o *Pipe) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range p {
		cpu.Out8(exitcode.OutPort, c)
	}
	return len(p), nil
}
