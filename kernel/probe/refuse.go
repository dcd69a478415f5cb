package probe

import (
	"fmt"
	"syscall"
)

// A Refusal says in words why a request is refused; errors.Is finds the errno
// that Linux gives for it.
type Refusal struct {
	text  string
	errno syscall.Errno
}

func (e *Refusal) Error() string { return e.text }

// Unwrap returns the errno.
func (e *Refusal) Unwrap() error { return e.errno }

// Refuse returns a Refusal.
//
// Context: goroutine.
func Refuse(errno syscall.Errno, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), errno}
}
