//go:build tamago

// Package serial drives the first serial port, COM1: the console.
//
// Output is polled: it must work in any context, down to the last message of a
// dying kernel. Input comes by interrupt (kernel/console).
package serial

import (
	"unsafe"

	"sonde/kernel/cpu"

	"github.com/usbarmory/tamago/soc/intel/uart"
)

const (
	// COM1 is the port's base, IRQ its legacy interrupt.
	COM1 = 0x3f8
	IRQ  = 4

	scratch = 7
)

// present is false when no UART answers: output is then dropped.
var present bool

// Init sets 115200 8N1 with FIFOs, no interrupts.
//
// Context: boot, before the runtime.
func Init() {
	cpu.Out8(COM1+scratch, 0x5a)
	present = cpu.In8(COM1+scratch) == 0x5a
	cpu.Out8(COM1+uart.IER, 0)
	cpu.Out8(COM1+uart.LCR, 0x80) // divisor latch
	cpu.Out8(COM1+0, 1)
	cpu.Out8(COM1+1, 0)
	cpu.Out8(COM1+uart.LCR, 3)
	cpu.Out8(COM1+uart.FCR, 7)
	cpu.Out8(COM1+uart.MCR, 1<<uart.MCR_INTEN|1<<uart.MCR_RTS|1<<uart.MCR_DTR)
}

// Putc writes one byte, when the transmitter has room.
//
// Context: any. It is nosplit because the thread shim calls it.
//
//go:nosplit
func Putc(c byte) {
	if !present {
		return
	}
	for cpu.In8(COM1+uart.LSR)&(1<<uart.LSR_THRE) == 0 {
		cpu.Pause()
	}
	cpu.Out8(COM1+uart.THR, c)
}

// Write writes p; a newline becomes CR LF.
//
// Context: any.
//
//go:nosplit
func Write(p []byte) {
	for _, c := range p {
		if c == '\n' {
			Putc('\r')
		}
		Putc(c)
	}
}

// WriteRaw writes p as it is.
//
// Context: any.
func WriteRaw(p []byte) {
	for _, c := range p {
		Putc(c)
	}
}

// WriteString is Write for a string.
//
// Context: any.
//
//go:nosplit
func WriteString(s string) { Write(unsafe.Slice(unsafe.StringData(s), len(s))) }

// Getc returns a received byte, ok false if there is none.
//
// Context: any.
func Getc() (c byte, ok bool) {
	if cpu.In8(COM1+uart.LSR)&(1<<uart.LSR_DR) == 0 {
		return 0, false
	}
	return cpu.In8(COM1 + uart.RBR), true
}

// EnableReceive makes the port interrupt when a byte arrives.
//
// Context: goroutine.
func EnableReceive() { cpu.Out8(COM1+uart.IER, 1<<uart.IER_ERBFI) }
