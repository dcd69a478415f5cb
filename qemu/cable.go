package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.bug.st/serial"
	"golang.org/x/term"

	"sonde/qemu/machine"
	"sonde/qemu/web/serve"
)

// A cable is a serial port of this host, to which a board is connected: 115,200 baud, 8N1. If it is pulled, or the
// device vanishes, a reader waits until it is back.
type cable struct {
	device string

	mu sync.Mutex
	// guarded by mu:
	port   serial.Port // nil: pulled
	closed bool
}

// openCable opens a device.
//
// Errors: those of opening it, with its name.
func openCable(device string) (*cable, error) {
	c := &cable{device: device}
	if _, err := c.open(); err != nil {
		return nil, fmt.Errorf("-serial %s: %w", device, err)
	}
	return c, nil
}

// errPulled is the error of a cable that is not there.
var errPulled = errors.New("the cable is not there")

// open returns the open port; it opens it anew if need be.
func (c *cable) open() (serial.Port, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, io.EOF
	}
	if c.port == nil {
		p, err := serial.Open(c.device, &serial.Mode{BaudRate: 115200})
		if err != nil {
			return nil, err
		}
		c.port = p
	}
	return c.port, nil
}

// drop gives a port up that does not work any more.
func (c *cable) drop(p serial.Port) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.port == p {
		c.port = nil
		p.Close()
	}
}

// Read implements io.Reader. It ends with io.EOF when the cable is closed.
func (c *cable) Read(b []byte) (int, error) {
	for {
		p, err := c.open()
		if err == nil {
			n, err := p.Read(b)
			if n > 0 {
				return n, nil
			}
			if err == nil {
				err = errPulled
			}
			c.drop(p)
		} else if err == io.EOF {
			return 0, err
		}
		time.Sleep(time.Second)
	}
}

// Write implements io.Writer. What is written while the cable is pulled is lost, as on any line.
func (c *cable) Write(b []byte) (int, error) {
	c.mu.Lock()
	p := c.port
	c.mu.Unlock()
	for done := 0; p != nil && done < len(b); {
		n, err := p.Write(b[done:])
		if err != nil {
			c.drop(p)
			break
		}
		done += n
	}
	return len(b), nil
}

// Close implements io.Closer.
func (c *cable) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.port == nil {
		return nil
	}
	return c.port.Close()
}

// overCable shows the kernel of a board, whose prompt is on this terminal, until Ctrl-A X or a signal, and returns the
// exit status.
func (o *options) overCable() int {
	agent := serve.NewAgent(o.cable, func(b []byte) { os.Stdout.Write(b) })
	stop, err := o.show(agent)
	if err != nil {
		return fail(err, machine.StatusQEMU)
	}
	defer stop()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if in := int(os.Stdin.Fd()); term.IsTerminal(in) {
		old, err := term.MakeRaw(in)
		if err != nil {
			return fail(fmt.Errorf("-serial: %w", err), machine.StatusQEMU)
		}
		defer term.Restore(in, old)
		fmt.Fprint(os.Stderr, "qemu: Ctrl-A X leaves\r\n")
	}
	go func() {
		if typed(os.Stdin, agent.Type) {
			cancel()
		}
	}()
	followLog(ctx, agent, os.Stdout)
	return 0
}

// typed passes on what is typed until it ends, and reports whether Ctrl-A X was. As in QEMU, Ctrl-A twice is one.
func typed(in io.Reader, send func([]byte) error) (leave bool) {
	const ctrlA = 'A' & 0x1f
	buf := make([]byte, 1024)
	escaped := false
	for {
		n, err := in.Read(buf)
		var out []byte
		for _, b := range buf[:n] {
			switch {
			case escaped && (b == 'x' || b == 'X'):
				return true
			case !escaped && b == ctrlA:
				escaped = true
				continue
			}
			escaped = false
			out = append(out, b)
		}
		if len(out) > 0 {
			send(out)
		}
		if err != nil {
			return false
		}
	}
}

// followLog shows the log of the kernel as it comes, until ctx ends: it has left the line for messages.
func followLog(ctx context.Context, r serve.Runner, terminal io.Writer) {
	lines := crlf{terminal}
	for ctx.Err() == nil {
		r.Run(ctx, []string{"dmesg", "-W", "-l", "info"}, lines, lines)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// crlf is a terminal in raw mode.
type crlf struct{ io.Writer }

func (t crlf) Write(b []byte) (int, error) {
	_, err := io.WriteString(t.Writer, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}
