package machine

import (
	"encoding/json"
	"io"
	"sync/atomic"
	"time"
)

// control is the QMP socket of one machine.
//
// Source: QEMU, docs/interop/qmp-spec.txt, "Asynchronous events".
type control struct {
	link
	shutdown string // reason of the SHUTDOWN event, or stoppedItself; read after done
	done     chan struct{}
	paused   atomic.Bool // by registers
	answers  chan string // to commands of the monitor
}

// stoppedItself stands for a SHUTDOWN event where QEMU stopped the machine and
// would not continue, as KVM does at an instruction that it cannot emulate.
const stoppedItself = "the machine stopped by itself"

func newControl() (*control, error) {
	l, err := controlLink(controlFd)
	if err != nil {
		return nil, err
	}
	return &control{link: l, done: make(chan struct{}), answers: make(chan string, 1)}, nil
}

// listen starts the machine, unless gdb is going to, and ends when QEMU closes
// its end. QEMU sends events only after the handshake, and a guest can be done
// before that: so QEMU starts it stopped. Of the answers, only texts of the monitor matter.
func (c *control) listen(gdb bool) {
	defer close(c.done)
	io.WriteString(c, `{"execute":"qmp_capabilities"}`)
	if !gdb {
		io.WriteString(c, `{"execute":"cont"}`)
	}
	dec := json.NewDecoder(c)
	for {
		var msg struct {
			Event  string
			Data   struct{ Reason string }
			Return json.RawMessage
		}
		if dec.Decode(&msg) != nil {
			return
		}
		switch {
		case msg.Event == "SHUTDOWN" && c.shutdown == "":
			c.shutdown = msg.Data.Reason
		case msg.Event == "STOP" && !gdb && !c.paused.Load():
			c.shutdown = stoppedItself
			io.WriteString(c, `{"execute":"quit"}`)
		case len(msg.Return) > 0 && msg.Return[0] == '"':
			var text string
			json.Unmarshal(msg.Return, &text)
			select {
			case c.answers <- text:
			default: // nothing waits any more
			}
		}
	}
}

// registers stops the machine for good and returns the registers of all processors, as QEMU's
// monitor shows them; "" if QEMU does not answer. A processor that runs has its instruction pointer
// somewhere else than QEMU shows.
func (c *control) registers(within time.Duration) string {
	c.paused.Store(true)
	io.WriteString(c, `{"execute":"stop"}{"execute":"human-monitor-command","arguments":{"command-line":"info registers -a"}}`)
	select {
	case text := <-c.answers:
		return text
	case <-c.done:
	case <-time.After(within):
	}
	return ""
}

// reset resets the machine.
func (c *control) reset() error {
	_, err := io.WriteString(c, `{"execute":"system_reset"}`)
	return err
}
