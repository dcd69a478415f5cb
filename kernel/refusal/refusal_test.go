package refusal

import (
	"errors"
	"syscall"
	"testing"
)

func TestRefusalIsItsErrno(t *testing.T) {
	err := New(syscall.EINVAL, "%s is data", "x")
	var errno syscall.Errno
	if !errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) || !errors.As(err, &errno) || err.Error() != "x is data" {
		t.Errorf("%v", err)
	}
}
