//go:build !linux

package machine

import (
	"os"
	"syscall"
)

// Hosts without Linux's ways: QEMU may outlive a launcher that is killed, or a script that has started
// it, pipes are as large as they are, and there is no KVM.

func childOfOurs(bool) *syscall.SysProcAttr { return nil }

func signalAll(p *os.Process, s syscall.Signal) error { return p.Signal(s) }

func enlarge(*os.File, int) {}

func kvmAnswers() bool { return false }
