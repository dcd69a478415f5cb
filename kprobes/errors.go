package kprobes

import (
	"fmt"
	"syscall"
)

// A refusal says in words why a request is refused; errors.Is finds the errno
// that Linux gives for it.
type refusal struct {
	text  string
	errno syscall.Errno
}

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return e.errno }

func refuse(errno syscall.Errno, format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), errno}
}
