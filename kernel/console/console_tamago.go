//go:build tamago

// Package console is the kernel's terminal: serial input by interrupt, polled
// output. In script mode the output of commands goes to a port of its own, so
// that the launcher can tell it from the log.
package console

import (
	"sync"

	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/serial"
	"sonde/kernel/tty"
)

// TTY is the terminal on the serial line: what programs see of it. Who reads Input
// feeds it: the shell, by its Offer.
var TTY = tty.New(screen{}, nil)

// Init makes the serial port interrupt when a byte arrives.
//
// Context: goroutine.
func Init(m *acpi.MADT) error {
	if err := irq.Request(m, serial.IRQ, "serial", receive); err != nil {
		return err
	}
	serial.EnableReceive()
	return nil
}

// ring holds what has been typed: written by the interrupt on CPU 0, read by
// one goroutine. Bytes that find it full are lost, as on any serial line.
var ring struct {
	buf        [4096]byte
	head, tail uint32 // guarded by mu
	mu         cpu.SpinLock
	event      irq.Event
}

// receive is the interrupt.
func receive() {
	r := &ring
	flags := r.mu.Lock()
	for {
		c, ok := serial.Getc()
		if !ok {
			break
		}
		if r.head-r.tail < uint32(len(r.buf)) {
			r.buf[r.head%uint32(len(r.buf))] = c
			r.head++
		}
	}
	r.mu.Unlock(flags)
	r.event.Wake()
}

// Input is the keyboard side, an io.Reader. Read blocks until there is a byte.
type Input struct{}

// Read implements io.Reader for one goroutine at a time.
func (Input) Read(p []byte) (n int, _ error) {
	r := &ring
	for {
		flags := r.mu.Lock()
		for n < len(p) && r.tail != r.head {
			p[n] = r.buf[r.tail%uint32(len(r.buf))]
			r.tail++
			n++
		}
		r.mu.Unlock(flags)
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		r.event.Wait(-1)
	}
}

// Output is the screen side, an io.Writer.
type Output struct{ mu sync.Mutex }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	serial.Write(p)
	return len(p), nil
}

// screen is the screen side for TTY, which makes of a newline what is to be made.
type screen struct{}

// Write implements io.Writer.
func (screen) Write(p []byte) (int, error) {
	serial.WriteRaw(p)
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
