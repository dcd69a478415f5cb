package machine

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
)

// control is the QMP socket of one machine.
//
// Source: QEMU, docs/interop/qmp-spec.txt, "Asynchronous events".
type control struct {
	ours, theirs *os.File
	shutdown     string // reason of the SHUTDOWN event, or stoppedItself; read after done
	done         chan struct{}
}

// stoppedItself stands for a SHUTDOWN event where QEMU stopped the machine and
// would not go on, as KVM does at an instruction that it cannot emulate.
const stoppedItself = "the machine stopped by itself"

func newControl() (*control, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &control{
		ours:   os.NewFile(uintptr(fds[0]), "control"),
		theirs: os.NewFile(uintptr(fds[1]), "control"),
		done:   make(chan struct{}),
	}, nil
}

// listen starts the machine, unless gdb is going to, and ends when QEMU closes
// its end. QEMU sends events only after the handshake, and a guest can be done
// before that: so QEMU starts it stopped. listen does not wait for answers, only
// events matter.
func (c *control) listen(gdb bool) {
	defer close(c.done)
	io.WriteString(c.ours, `{"execute":"qmp_capabilities"}`)
	if !gdb {
		io.WriteString(c.ours, `{"execute":"cont"}`)
	}
	dec := json.NewDecoder(c.ours)
	for {
		var msg struct {
			Event string
			Data  struct{ Reason string }
		}
		if dec.Decode(&msg) != nil {
			return
		}
		switch {
		case msg.Event == "SHUTDOWN" && c.shutdown == "":
			c.shutdown = msg.Data.Reason
		case msg.Event == "STOP" && !gdb:
			c.shutdown = stoppedItself
			io.WriteString(c.ours, `{"execute":"quit"}`)
		}
	}
}

// reset resets the machine.
func (c *control) reset() error {
	_, err := io.WriteString(c.ours, `{"execute":"system_reset"}`)
	return err
}

func (c *control) close() {
	c.ours.Close()
	c.theirs.Close()
}
