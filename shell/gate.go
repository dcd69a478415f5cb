package shell

import "io"

// gate is the terminal for a job: while the job is stopped, what it prints waits. It implements io.Writer.
type gate struct {
	j *job
	w io.Writer
}

func (g *gate) Write(p []byte) (int, error) {
	for held, changed := g.j.waits(); held; held, changed = g.j.waits() {
		select {
		case <-changed:
		case <-g.j.quit:
			return g.w.Write(p)
		}
	}
	return g.w.Write(p)
}

// waits reports whether what the job prints waits, and returns a channel that is closed when that
// may have changed.
func (j *job) waits() (bool, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.held, j.changed
}
