package tty

import "io"

// Tap returns a reader of what a device sends while no program is in the foreground:
// the kernel's own shell. Otherwise it goes to the terminal. For one goroutine, which
// should always read, so that keys become signals in time.
func (t *TTY) Tap(device io.Reader) io.Reader { return &tap{t, device} }

type tap struct {
	tty    *TTY
	device io.Reader
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	for {
		n, err := t.device.Read(p)
		if n == 0 || t.tty.Foreground() == 0 {
			return n, err
		}
		t.tty.Input(p[:n])
		if err != nil {
			return 0, err
		}
	}
}
