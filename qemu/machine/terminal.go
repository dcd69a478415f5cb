package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"sonde/internal/exitcode"
)

// Interact boots a machine whose console is this process's terminal and waits
// for its end. Ctrl-A X leaves; a reset of the guest really resets it.
//
// Errors: ErrConfig, ErrNoQEMU, ErrQEMU, ErrTimeout, ErrInterrupted.
func Interact(ctx context.Context, c Config) (Result, error) {
	c, path, err := c.prepared()
	if err != nil {
		return failed(err)
	}
	m, err := c.makeMedium()
	if err != nil {
		return failed(fmt.Errorf("machine: %w: %w", ErrQEMU, err))
	}
	defer m.remove()
	ctx, cancel := c.limited(ctx)
	defer cancel()
	started := time.Now()
	p := &process{cmd: exec.CommandContext(ctx, path, c.terminalArguments(m)...), code: make(chan int, 1)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	p.cmd.ExtraFiles = c.attachedFiles()
	// SIGTERM lets QEMU put the terminal right; WaitDelay kills it if it hangs.
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	if err := p.start(false); err != nil {
		return failed(fmt.Errorf("machine: start: %w: %w", ErrQEMU, err))
	}
	c.Agent.started()
	code := p.wait()
	r := Result{Duration: time.Since(started)}
	if cause := context.Cause(ctx); cause != nil {
		return r, r.stopped(cause)
	}
	return r, r.interactive(code)
}

// interactive is classify for a machine whose console went to the terminal:
// exit code 0 is always what the user wanted.
func (r *Result) interactive(code int) error {
	if code == 0 {
		return nil
	}
	e := ending{code: code}
	err := r.classify(e)
	if value, ok := exitcode.Value(code); ok && value == exitcode.Crash {
		r.Reason = "see the console above"
	}
	if errors.Is(err, ErrQEMU) {
		return fmt.Errorf("machine: exit code %d: %w", code, ErrQEMU)
	}
	return err
}
