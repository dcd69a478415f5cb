package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"sonde/internal/exitcode"
)

// How a run can end except with the end of the script, as exit statuses of the launcher.
const (
	StatusUsage     = 2   // there is no such machine: ErrConfig
	StatusCrash     = 70  // the kernel ended fatally
	StatusQEMU      = 71  // QEMU failed
	StatusTimeout   = 124 // as timeout(1)
	StatusInterrupt = 130 // as a shell after Ctrl-C
)

var (
	// ErrNoQEMU says that QEMU is not installed.
	ErrNoQEMU = errors.New("qemu-system-x86_64 not found")
	// ErrQEMU says that QEMU itself failed; the error has QEMU's message.
	ErrQEMU = errors.New("QEMU failed")
	// ErrTimeout says that the machine was stopped because it took too long.
	ErrTimeout = errors.New("timed out")
	// ErrInterrupted says that the caller or a signal stopped the machine.
	ErrInterrupted = errors.New("interrupted")
)

// Result is how a machine ended and what it said.
type Result struct {
	Stdout   []byte // what the script printed
	Log      []byte // the console
	Status   int    // of the script, or one of the Status constants
	Crash    bool
	Reason   string // one line about a crash, or where the processors were when the time was over
	Duration time.Duration
}

// ending is what is known when QEMU's process is gone.
type ending struct {
	code     int    // exit code, -1 if killed by a signal
	shutdown string // reason of QEMU's SHUTDOWN event, "" without one
	log      []byte
	stderr   []byte
}

// classify fills in how the machine ended.
//
// With -no-reboot QEMU exits with 0 both when the guest powers the machine off
// and when it resets it, as a triple fault does. The control socket knows the
// difference; a reset that the kernel did not announce is a crash.
func (r *Result) classify(e ending) error {
	if value, ok := exitcode.Value(e.code); ok {
		if status, ok := exitcode.Status(value); ok {
			r.Status = status
			return nil
		}
		if value == exitcode.Crash {
			r.crash(lastWords(e.log))
			return nil
		}
		return r.broken(e, fmt.Sprintf("unknown value %#x from the kernel", value))
	}
	if e.code != 0 {
		return r.broken(e, fmt.Sprintf("exit code %d", e.code))
	}
	switch e.shutdown {
	case "guest-shutdown":
		return nil
	case "guest-reset":
		if !announcedReboot(e.log) {
			r.crash("machine reset, likely by a triple fault; last line: " + lastWords(e.log))
		}
		return nil
	case "host-signal", "host-qmp-quit":
		r.Status = StatusInterrupt
		return fmt.Errorf("machine: %w", ErrInterrupted)
	}
	return r.broken(e, fmt.Sprintf("exit without a cause (%q)", e.shutdown))
}

// timeout is the cause for which a machine with this time limit is stopped.
func timeout(limit time.Duration) error { return fmt.Errorf("%w after %v", ErrTimeout, limit) }

// tooLate reports whether a machine is stopped for lack of time: its own, or its caller's.
func tooLate(cause error) bool {
	return errors.Is(cause, ErrTimeout) || errors.Is(cause, context.DeadlineExceeded)
}

// stopped fills in that the machine was killed because of cause.
func (r *Result) stopped(cause error) error {
	if !tooLate(cause) {
		r.Status = StatusInterrupt
		return fmt.Errorf("machine: %w", ErrInterrupted)
	}
	r.Status = StatusTimeout
	if !errors.Is(cause, ErrTimeout) {
		cause = timeout(r.Duration.Round(time.Second / 10))
	}
	if r.Reason == "" {
		return fmt.Errorf("machine: %w", cause)
	}
	return fmt.Errorf("machine: %w; %s", cause, r.Reason)
}

func (r *Result) crash(why string) { r.Status, r.Crash, r.Reason = StatusCrash, true, why }

func (r *Result) broken(e ending, what string) error {
	r.Status = StatusQEMU
	return fmt.Errorf("machine: %s: %w\n%s", what, ErrQEMU, e.stderr)
}

// rebootLine begins the line that the kernel logs before it resets the machine
// on purpose, as Linux does.
var rebootLine = []byte("reboot: ")

func announcedReboot(log []byte) bool {
	for line := range bytes.Lines(log) {
		if bytes.HasPrefix(stamp.ReplaceAll(line, nil), rebootLine) {
			return true
		}
	}
	return false
}

// fatalWords begin what a Go program prints when it crashes.
var fatalWords = [][]byte{[]byte("panic: "), []byte("fatal error: "), []byte("fatal: "), []byte("BUG: ")}

// stamp is the time that the kernel puts before each line of its log.
var stamp = regexp.MustCompile(`^\[ *\d+\.\d+\] `)

// lastWords returns the line that names the cause of a crash: the last one with
// one of fatalWords, or else the last line. The time stamp is left out.
func lastWords(log []byte) string {
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		for _, word := range fatalWords {
			if bytes.Contains(lines[i], word) {
				return tidy(lines[i])
			}
		}
	}
	return tidy(lines[len(lines)-1])
}

func tidy(line []byte) string { return string(bytes.TrimSpace(stamp.ReplaceAll(line, nil))) }
