// Package refusal makes errors that explain themselves. They carry an errno, which programs get,
// but do not print its words: "matches 7231 functions, more than 2000: argument list too long"
// would confuse.
//
// An error whose cause is what the errno's words say, such as ENOENT after the name of a file,
// needs none of this: fmt.Errorf("%s: %w", path, err). A test in internal/layers holds the rule.
package refusal

import (
	"fmt"
	"syscall"
)

// A Refusal says in words why a request is refused. errors.Is and errors.As find the errno
// that Linux gives for it.
type Refusal struct {
	text  string
	errno syscall.Errno
}

func (e *Refusal) Error() string { return e.text }

// Unwrap returns the errno.
func (e *Refusal) Unwrap() error { return e.errno }

// New returns a Refusal. The text says what was tried, what was wrong, and what to do.
//
// It is not inlined: it has 500 callers, and the image would have 65 KB more.
//
//go:noinline
func New(errno syscall.Errno, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), errno}
}
