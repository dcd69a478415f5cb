//go:build tamago

package console

import (
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/acpi"
	"sonde/kernel/irq"
	"sonde/kernel/serial"
	"sonde/kernel/wire"
)

// A Link is a serial line that carries messages.
type Link struct {
	port *serial.Port
	in   input
	rest func([]byte) // gets what arrives and is no message; nil: nothing does

	sending *sync.Mutex
	out     []byte // guarded by sending
}

// shared is the link on the terminal's line; nil: there is none.
var shared atomic.Pointer[Link]

// OpenLink takes a port for messages alone.
//
// Errors: those of irq.Request.
func OpenLink(m *acpi.MADT, p *serial.Port) (*Link, error) {
	l := &Link{port: p, sending: new(sync.Mutex)}
	if err := irq.Request(m, p.IRQ, p.Name, func() { l.in.receive(p) }); err != nil {
		return nil, err
	}
	p.EnableReceive()
	return l, nil
}

// ShareLink has the terminal's line called name carry messages, too: the first one if name is "". It returns nil if
// there is none, or it is shared already. What has arrived until now is forgotten: it may be a part of a message.
//
// Context: boot, after Init and before there is a reader of Input.
func ShareLink(name string) *Link {
	for i := range Lines() {
		p := &lines[i]
		if terminal>>i&1 == 0 || name != "" && name != p.Name {
			continue
		}
		l := &Link{port: p, sending: &output, rest: func(b []byte) {
			for _, c := range b {
				ring.arrived(c)
			}
		}}
		if shared.CompareAndSwap(nil, l) {
			for _, typed := ring.next(); typed; _, typed = ring.next() {
			}
			return l
		}
	}
	return nil
}

// arrive takes what has arrived at a terminal's line.
//
// Context: goroutine, or the line's interrupt.
func arrive(p *serial.Port) {
	if l := shared.Load(); l != nil && l.port == p {
		l.in.receive(p)
		return
	}
	ring.receive(p)
}

// Present says whether someone is at the other end who takes the log in messages. The log is written from any
// context, where no lock can keep it out of a message: it leaves a shared line meanwhile.
func (l *Link) Present(is bool) {
	left := Set(0)
	for i := range Lines() {
		if is && shared.Load() == l && &lines[i] == l.port {
			left = 1 << i
		}
	}
	withoutLog.Store(uint32(left))
}

// Name is what the port is called.
func (l *Link) Name() string { return l.port.Name }

// Lost is how many bytes have arrived that there was no room for.
func (l *Link) Lost() uint32 {
	flags := l.in.mu.Lock()
	defer l.in.mu.Unlock(flags)
	return l.in.lost
}

// Serve calls take with each message that arrives, and does not return. It waits for the interrupt: a line on which
// nothing comes costs nothing.
func (l *Link) Serve(take func(wire.Message)) {
	r := wire.Reader{Rest: l.rest}
	for late := false; ; late = !l.in.event.Wait(int64(r.Patience())) {
		came := false
		for c, ok := l.in.next(); ok; c, ok = l.in.next() {
			r.Feed([]byte{byte(c)}, take)
			came = true
		}
		if late && !came { // this goroutine may have waited for a CPU while all came
			r.GiveUp()
		}
	}
}

// deaf is how long the other end may take nothing before a message is dropped.
const deaf = 5 * time.Second

// Send sends a message. It sleeps while the line is busy, and drops the message if that is for too long.
func (l *Link) Send(m wire.Message) {
	l.sending.Lock()
	defer l.sending.Unlock()
	l.out = wire.Append(l.out[:0], m)
	waited := time.Duration(0)
	for b := l.out; len(b) > 0 && waited < deaf; {
		n := l.port.TryWrite(b)
		if b = b[n:]; n > 0 {
			waited = 0
			continue
		}
		time.Sleep(time.Millisecond)
		waited += time.Millisecond
	}
}
