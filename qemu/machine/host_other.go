//go:build !linux

package machine

import (
	"os"
	"syscall"
)

// Hosts without Linux's ways: QEMU may outlive a launcher that is killed, pipes are as large as they
// are, and there is no KVM.

func childOfOurs() *syscall.SysProcAttr { return nil }

func enlarge(*os.File, int) {}

func kvmAnswers() bool { return false }
