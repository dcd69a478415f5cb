package machine

import (
	"os"
	"syscall"
)

// What only Linux has. The other hosts have files of their own beside this one.

// childOfOurs makes a process end when we do. With apart it has a process group of its own, so that
// signals to it reach QEMU, too, if what was started is a script.
func childOfOurs(apart bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: apart}
}

// signalAll sends a signal to a process that was started apart, and to those that it has started.
func signalAll(p *os.Process, s syscall.Signal) error {
	if err := syscall.Kill(-p.Pid, s); err != syscall.ESRCH {
		return err
	}
	return os.ErrProcessDone
}

// enlarge is best effort: an unprivileged user may be over the system's limit.
func enlarge(pipe *os.File, size int) {
	syscall.Syscall(syscall.SYS_FCNTL, pipe.Fd(), syscall.F_SETPIPE_SZ, uintptr(size))
}

// kvmAnswers asks the host's kernel for a virtual machine.
//
// Source: Linux, Documentation/virt/kvm/api.rst, "API description".
func kvmAnswers() bool {
	const (
		KVM_GET_API_VERSION = 0xae00
		KVM_CREATE_VM       = 0xae01
		wantVersion         = 12
	)
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	version, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), KVM_GET_API_VERSION, 0)
	if errno != 0 || version != wantVersion {
		return false
	}
	vm, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), KVM_CREATE_VM, 0)
	return errno == 0 && syscall.Close(int(vm)) == nil
}
