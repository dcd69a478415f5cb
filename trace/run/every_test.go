package run

import (
	"errors"
	"syscall"
	"testing"

	"sonde/probe/attach"
	"sonde/trace/lang"
)

// TestMost: more places than are left are refused before the program is touched, with both numbers.
func TestMost(t *testing.T) {
	_, err := link(nil, nil, new(lang.Target), make([]attach.Site, 2), 0, 1)
	if !errors.Is(err, syscall.E2BIG) || err.Error() != "2 more places do not fit: 1 are left" {
		t.Error(err)
	}
	if _, err := link(nil, nil, new(lang.Target), make([]attach.Site, 2), 0, -252); err == nil || err.Error() != "2 more places do not fit: 0 are left" {
		t.Error(err)
	}
}
