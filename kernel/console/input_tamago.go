//go:build tamago

package console

import (
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/keyboard"
	"sonde/kernel/screen"
	"sonde/kernel/serial"
)

// fromKeyboard marks what is a keyboard's code; the others are the serial line's bytes.
const fromKeyboard = 1 << 8

// ring holds what has been typed: written by the interrupts on CPU 0, read by
// one goroutine. What finds it full is lost, as on any serial line.
var ring struct {
	buf        [4096]uint16
	head, tail uint32 // guarded by mu
	mu         cpu.SpinLock
	event      irq.Event
}

// receive takes what has arrived at p. The lock is not held over calls: a goroutine might give
// up its CPU in them.
//
// Context: goroutine, or the line's interrupt.
func receive(p *serial.Port) {
	for {
		c, ok := p.Getc()
		if !ok {
			return
		}
		flags := ring.mu.Lock()
		typed(uint16(c))
		ring.mu.Unlock(flags)
		ring.event.Wake()
	}
}

// typed adds to the ring; the caller has its lock.
//
//go:nosplit
func typed(c uint16) {
	if r := &ring; r.head-r.tail < uint32(len(r.buf)) {
		r.buf[r.head%uint32(len(r.buf))] = c
		r.head++
	}
}

// next takes from the ring.
func next() (c uint16, ok bool) {
	r := &ring
	flags := r.mu.Lock()
	if ok = r.tail != r.head; ok {
		c = r.buf[r.tail%uint32(len(r.buf))]
		r.tail++
	}
	r.mu.Unlock(flags)
	return c, ok
}

// keys is the keyboard, and ahead what it has typed and nobody has read. They are the
// reader's.
var (
	keys  keyboard.Keyboard
	ahead string
)

// press returns what the keyboard types with a code, but for what scrolls the screen.
func press(code byte) string {
	text := keys.Code(code)
	if text == keyboard.ScrollUp || text == keyboard.ScrollDown {
		screen.Main.Scroll(text == keyboard.ScrollUp)
		return ""
	}
	return text
}

// Input is the keyboard side, an io.Reader. Read blocks until there is a byte.
type Input struct{}

// Read implements io.Reader for one goroutine at a time.
func (Input) Read(p []byte) (n int, _ error) {
	for {
		for n < len(p) {
			if ahead != "" {
				k := copy(p[n:], ahead)
				n, ahead = n+k, ahead[k:]
				continue
			}
			c, ok := next()
			if !ok {
				break
			}
			if c&fromKeyboard != 0 {
				ahead = press(byte(c))
				continue
			}
			p[n] = byte(c)
			n++
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		ring.event.Wait(-1)
	}
}
