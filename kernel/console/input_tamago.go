//go:build tamago

package console

import (
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/keyboard"
	"sonde/kernel/screen"
	"sonde/kernel/serial"
)

// fromKeyboard marks what is a keyboard's code; the others are the serial line's bytes.
const fromKeyboard = 1 << 8

// An input holds what has arrived: written by the interrupts on CPU 0, read by one goroutine. What finds it full is
// lost, as on any serial line.
type input struct {
	buf        [4096]uint16
	head, tail uint32 // guarded by mu
	lost       uint32
	mu         cpu.SpinLock
	event      irq.Event
}

// ring is what has been typed.
var ring input

// receive takes what has arrived at p. The lock is not held over calls: a goroutine might give
// up its CPU in them.
//
// Context: goroutine, or the line's interrupt.
func (r *input) receive(p *serial.Port) {
	for {
		c, ok := p.Getc()
		if !ok {
			return
		}
		r.arrived(c)
	}
}

// arrived adds a byte, and wakes the reader.
func (r *input) arrived(c byte) {
	flags := r.mu.Lock()
	r.put(uint16(c))
	r.mu.Unlock(flags)
	r.event.Wake()
}

// put adds; the caller has the lock.
//
//go:nosplit
func (r *input) put(c uint16) {
	if r.head-r.tail < uint32(len(r.buf)) {
		r.buf[r.head%uint32(len(r.buf))] = c
		r.head++
	} else {
		r.lost++
	}
}

// next takes from the input.
func (r *input) next() (c uint16, ok bool) {
	flags := r.mu.Lock()
	if ok = r.tail != r.head; ok {
		c = r.buf[r.tail%uint32(len(r.buf))]
		r.tail++
	}
	r.mu.Unlock(flags)
	return c, ok
}

// keys is the keyboard, and ahead what it has typed and has not been read. They are the
// reader's.
var (
	keys  keyboard.Keyboard
	ahead string
)

// lights is told when Caps Lock changes; nil until OnLights.
var lights atomic.Pointer[func(caps bool)]

// OnLights makes each change of Caps Lock call f.
//
// Context: goroutine; f runs in the goroutine that reads Input.
func OnLights(f func(caps bool)) { lights.Store(&f) }

// Type takes codes of a keyboard's key, which belong together.
func Type(codes ...byte) {
	flags := ring.mu.Lock()
	for _, c := range codes {
		ring.put(fromKeyboard | uint16(c))
	}
	ring.mu.Unlock(flags)
	ring.event.Wake()
}

// press returns what the keyboard types with a code, but for what scrolls the screen.
func press(code byte) string {
	caps := keys.Caps()
	text := keys.Code(code)
	if f := lights.Load(); f != nil && keys.Caps() != caps {
		(*f)(!caps)
	}
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
			c, ok := ring.next()
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
