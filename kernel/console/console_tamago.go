//go:build tamago

// Package console is the kernel's terminal: everything that shows text, and everything that
// is typed. There are serial lines and a screen with a keyboard. boot chooses which of them
// get the log, and which are the terminal; input comes by interrupt. In script mode the
// output of commands goes to a separate port, so that the launcher can tell it from the
// log.
package console

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/screen"
	"sonde/kernel/serial"
	"sonde/kernel/tty"
)

// TTY is the terminal on the consoles: what programs see of it. A reader of Input
// feeds it: the shell, by its Offer.
var TTY = tty.New(raw{}, nil)

// Init makes what is typed at the terminal arrive: by interrupts of the serial lines and of the
// keyboard, which has the layout called keymap. A serial line whose interrupt is not known, or
// another's, is asked again and again.
func Init(m *acpi.MADT, keymap string) (err error) {
	for i := range Lines() {
		if terminal>>i&1 == 0 {
			continue
		}
		p := &lines[i]
		if p.IRQ == 0 || irq.Request(m, p.IRQ, p.Name, func() { arrive(p) }) != nil {
			go ask(p)
			continue
		}
		p.EnableReceive()
	}
	if TakesKeyboard() {
		unknown := setLayout(keymap)
		err = initKeyboard(m)
		keyboardWorks = err == nil
		err = errors.Join(unknown, err)
	}
	return err
}

// keyboardWorks is written once at boot.
var keyboardWorks bool

// TakesKeyboard reports whether the screen is the terminal: keyboards belong to it.
func TakesKeyboard() bool { return terminal&Screen != 0 && screen.Main.On() }

// LacksKeyboard reports whether the screen is the terminal, and no PS/2 keyboard, or what imitates one, belongs to it.
//
// Context: goroutine, after Init.
func LacksKeyboard() bool { return TakesKeyboard() && !keyboardWorks }

// ask looks for input of p often enough that its 16 bytes do not overflow at 115,200 baud.
func ask(p *serial.Port) {
	for {
		time.Sleep(time.Millisecond)
		arrive(p)
	}
}

// withoutLog is the Set of consoles that the log has left for messages (Link.Present).
var withoutLog atomic.Uint32

// Write writes p to all consoles that get the log; a newline begins a new line. What a dying kernel says goes to all
// of them.
//
// Context: any.
func Write(p []byte) {
	to := logTo
	if !screen.Main.Dying() {
		to &^= Set(withoutLog.Load())
	}
	write(to, p)
}

func write(to Set, p []byte) {
	for i := range lines {
		if to>>i&1 != 0 {
			lines[i].Write(p)
		}
	}
	if to&Screen != 0 {
		screen.Main.Write(p)
	}
}

// Putc is Write for a byte, for code that may call nothing. The screen shows it when
// something is written.
//
// Context: any.
//
//go:nosplit
func Putc(c byte) {
	if c == '\n' {
		putc('\r')
	}
	putc(c)
}

//go:nosplit
func putc(c byte) {
	for i := range lines {
		if logTo>>i&1 != 0 {
			lines[i].Putc(c)
		}
	}
	if logTo&Screen != 0 {
		screen.Main.Put(c)
	}
}

// WriteString is Write for a string.
//
// Context: any.
func WriteString(s string) { Write(unsafe.Slice(unsafe.StringData(s), len(s))) }

// output is held while something is written to the terminal, or a message to a line that is the terminal's, too.
var output sync.Mutex

// Output is the screen side of the terminal, an io.Writer.
type Output struct{}

// Write implements io.Writer.
func (*Output) Write(p []byte) (int, error) {
	output.Lock()
	defer output.Unlock()
	write(terminal, p)
	return len(p), nil
}

// raw is the screen side for TTY, which makes of a newline what is to be made.
type raw struct{}

// Write implements io.Writer.
func (raw) Write(p []byte) (int, error) {
	output.Lock()
	defer output.Unlock()
	for i := range lines {
		if terminal>>i&1 != 0 {
			lines[i].WriteRaw(p)
		}
	}
	if terminal&Screen != 0 {
		screen.Main.WriteRaw(p)
	}
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
