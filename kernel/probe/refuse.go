package probe

import (
	"syscall"

	"sonde/kernel/refusal"
)

// Refuse returns an error that has an errno, and says why in its own words only.
func Refuse(errno syscall.Errno, format string, args ...any) error {
	return refusal.New(errno, format, args...)
}
