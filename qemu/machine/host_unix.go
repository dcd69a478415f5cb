//go:build unix

package machine

import (
	"os"
	"syscall"
)

// killed is the exit code of a process that a signal ended.
const killed = -1

// inherits says that QEMU can be given files that are open here. A variable, so that tests can do
// without.
var inherits = true

// install says how to get QEMU, after ErrNoQEMU.
func install(goos string) string {
	if goos == "darwin" {
		return "install it, for example by \"brew install qemu\""
	}
	return "install the Debian package qemu-system-x86, or what your system calls it"
}

// socketPair returns two ends of a connection.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // nothing is started between making them and closing them for others
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}
