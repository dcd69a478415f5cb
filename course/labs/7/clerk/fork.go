//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// The calls here are made without package os: in the child of a fork, there is nothing of Go's runtime but
// the thread that has forked. So that code must not even let its stack grow.

var (
	file, _ = os.Executable()
	path, _ = syscall.BytePtrFromString(file)
	environ = func() []*byte { e, _ := syscall.SlicePtrFromStrings(os.Environ()); return e }()
	null, _ = syscall.Open("/dev/null", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
)

// fork makes a child. It sends its parent no signal when it ends. It executes this program with argv, or
// writes a byte and ends if that is nil.
func fork(argv []*byte) (pid int) {
	pid, errno := forkRaw(argv)
	if errno != 0 {
		check(errno)
	}
	return pid
}

//go:nosplit
func forkRaw(argv []*byte) (int, syscall.Errno) {
	dot := [1]byte{'.'}
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, 0, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return int(pid), errno
	}
	if argv != nil {
		become(argv)
	}
	_, _, errno = syscall.RawSyscall(syscall.SYS_WRITE, uintptr(null), uintptr(unsafe.Pointer(&dot)), 1)
	syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	return 0, 0
}

// become executes this program again.
//
//go:nosplit
func become(argv []*byte) {
	syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&environ[0])))
}

// wait waits for a child.
func wait(pid int) {
	const all = 0x40000000 // __WALL: also for those that send no signal
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, all, nil)
	if err == nil && status != 0 {
		err = fmt.Errorf("child %d has ended with %#x", pid, int(status))
	}
	check(err)
}
