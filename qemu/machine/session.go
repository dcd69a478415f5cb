package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Session is a running machine whose console the caller types at.
type Session struct {
	proc    *process
	console *os.File
	log     *stream
	out     *stream
	control *control
	script  link
	end     func() (Result, error) // ended, once
	started time.Time
	cancel  context.CancelFunc
	ctx     context.Context
	filled  sync.WaitGroup
	read    int // Expect has consumed the log up to here
	medium  medium
	image   string
	where   string // each processor was when the time was over
}

// Run boots a machine and waits for its end. A script's failure and a crash
// are results, not errors.
//
// Errors: ErrConfig, ErrNoQEMU, ErrQEMU, ErrTimeout, ErrInterrupted.
func Run(ctx context.Context, c Config) (Result, error) {
	s, err := Start(ctx, c)
	if err != nil {
		return failed(err)
	}
	return s.Wait()
}

// failed is the result if no machine has run.
func failed(err error) (Result, error) {
	if errors.Is(err, ErrConfig) {
		return Result{Status: StatusUsage}, err
	}
	return Result{Status: StatusQEMU}, err
}

// Start boots a machine. The caller must Wait or Close. The machine is killed
// when ctx or the configured timeout ends, and when this process does.
//
// Errors: ErrConfig, ErrNoQEMU, ErrQEMU.
func Start(ctx context.Context, c Config) (*Session, error) {
	c, path, err := c.prepared()
	if err != nil {
		return nil, err
	}
	s := &Session{log: newStream(c.Log), out: newStream(c.Stdout), started: time.Now(), image: c.Image}
	s.end = sync.OnceValues(s.ended)
	s.ctx, s.cancel = c.limited(ctx)
	if err := s.launch(path, c); err != nil {
		s.medium.remove()
		s.cancel()
		return nil, fmt.Errorf("machine: start: %w: %w", ErrQEMU, err)
	}
	return s, nil
}

// launch connects pipes and starts QEMU. Its ends of the pipes are closed here
// as soon as it has them, so that each stream ends when QEMU does.
func (s *Session) launch(path string, c Config) (err error) {
	if s.medium, err = c.makeMedium(); err != nil {
		return err
	}
	in, console, inErr := os.Pipe()
	log, out, logErr := fromChild()
	script, scriptErr := outLink(outFd)
	ctl, err := newControl()
	if err = errors.Join(inErr, logErr, scriptErr, err); err != nil {
		return err
	}
	defer in.Close()
	defer out.Close()
	s.control, s.console, s.script = ctl, console, script
	args := c.pipedArguments(s.medium, script.chardev("out"), ctl.chardev("control"))
	s.proc, err = startProcess(s.ctx, s.kill, path, args, in, out, append(inherited(&script, &ctl.link), c.attachedFiles()...))
	if err != nil {
		console.Close()
		log.Close()
		script.Close()
		ctl.Close()
		return err
	}
	script.closeTheirs()
	ctl.closeTheirs()
	c.Agent.started()
	go ctl.listen(c.GDB != nil)
	s.filled.Go(func() { s.log.fill(log); log.Close() })
	s.filled.Go(func() { s.out.fill(script) })
	return nil
}

// kill ends QEMU because the session's context has ended. If that is for lack of time, it first asks
// where the processors are: what hangs may have printed nothing.
func (s *Session) kill(qemu *os.Process) error {
	if tooLate(context.Cause(s.ctx)) {
		s.where = where(s.control.registers(patienceForWhere), symbolsOf(s.image))
	}
	return signalAll(qemu, syscall.SIGKILL)
}

// Signal sends QEMU a signal.
func (s *Session) Signal(sig syscall.Signal) error { return signalAll(s.proc.cmd.Process, sig) }

// Pid returns the process id of QEMU.
func (s *Session) Pid() int { return s.proc.cmd.Process.Pid }

// Type sends text to the console as if typed; end a line with "\r".
func (s *Session) Type(text string) error {
	if _, err := io.WriteString(s.console, text); err != nil {
		return fmt.Errorf("machine: type %q: %w", text, err)
	}
	return nil
}

// Reset resets the machine, as its reset button does; Config.Resets says what comes then.
func (s *Session) Reset() error { return s.control.reset() }

// Expect waits until the console shows something that matches pattern, after
// what earlier calls have matched, and returns the text up to its end.
//
// Errors: ErrTimeout, io.EOF if the machine ends first; wrapped with what the
// console showed instead.
func (s *Session) Expect(pattern string, timeout time.Duration) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", fmt.Errorf("machine: expect: %w", err)
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		data, closed, changed := s.log.from(s.read)
		if at := re.FindIndex(data); at != nil {
			s.read += at[1]
			return string(data[:at[1]]), nil
		}
		if closed {
			return "", fmt.Errorf("machine: expect %q: %w; console: %q", pattern, io.EOF, data)
		}
		select {
		case <-changed:
		case <-deadline.C:
			return "", fmt.Errorf("machine: expect %q: %w; console: %q", pattern, ErrTimeout, data)
		}
	}
}

// Wait waits for the end of the machine.
//
// Errors: ErrQEMU, ErrTimeout, ErrInterrupted.
func (s *Session) Wait() (Result, error) { return s.end() }

// ended collects the results of a machine that ends.
func (s *Session) ended() (Result, error) {
	code := s.proc.wait()
	s.medium.remove()
	s.script.hangUp()
	s.control.hangUp()
	s.filled.Wait()
	s.script.Close()
	<-s.control.done
	s.console.Close()
	s.control.Close()
	r := Result{Stdout: s.out.bytes(), Log: s.log.bytes(), Duration: time.Since(s.started)}
	cause := context.Cause(s.ctx)
	s.cancel()
	if code == killed && cause != nil {
		r.Reason = s.where
		return r, r.stopped(cause)
	}
	return r, r.classify(ending{code, s.control.shutdown, r.Log, s.proc.stderr.Bytes()})
}

// Close kills the machine, if it still runs, and waits until it is gone.
func (s *Session) Close() {
	s.cancel()
	s.Wait()
}
