package quick

import (
	"syscall"
	"testing"
	"time"
)

func used(t testing.TB) time.Duration {
	t.Helper()
	self, err := syscall.GetCurrentProcess()
	var created, exited, kernel, user syscall.Filetime
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ticks(kernel) + ticks(user)
}

// ticks is a duration in units of 100 ns.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
