//go:build tamago

package examples

import (
	"errors"
	"fmt"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/attach"
	"sonde/kernel/refusal"
)

// The target of a ready-made module is a function of the kernel or of a program, in all
// processes that run its file: target=/bin/myprog:myfunc. Handlers of a program's probes
// run in the thread that hit the probe, and may lock and allocate.

// siteOf reads a target.
//
// Errors: those of attach.ParseSite; EINVAL it is no function.
func siteOf(target string) (attach.Site, error) {
	s, err := attach.ParseSiteOf(target, attach.Kernel, attach.Program)
	if err == nil && (s.Symbol == "" || s.Offset != 0 || s.Return || s.PID != 0) {
		err = refusal.New(syscall.EINVAL, "%s is no function; give one, as in target=vfs.Read", target)
	}
	return s, err
}

// Bounds of the parameters of the ready-made modules: seconds, and lines or calls.
const (
	maxInterval = 24 * 60 * 60
	maxShown    = 100_000
	maxPid      = 1 << 22 // Linux's greatest pid_max
)

// validTarget refuses what is no name of a function, validPlace what is no place at all.
func validTarget(target string) error { return valid(target, siteOf) }
func validPlace(target string) error  { return valid(target, attach.ParseSite) }

func valid(target string, read func(string) (attach.Site, error)) error {
	if target == "" {
		return errors.New("it is empty; give the function, as in target=vfs.Read")
	}
	_, err := read(target)
	return err
}

// some writes a number of things: "1 call", "2 calls".
func some[N int | uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// programs is what the modules ask of programs; nil: this kernel runs none.
var programs interface {
	// isGo reports whether a program passes arguments as Go does. Errors: those of opening it; ENOEXEC.
	isGo(path string) (bool, error)
	// stack returns the functions that a hit is in, the innermost first.
	stack(r *amd64.Regs) []string
}

// errNoPrograms refuses a program's function where programs is nil.
func errNoPrograms(path string) error {
	return refusal.New(syscall.ENOSYS, "%s: no programs can run here", path)
}
