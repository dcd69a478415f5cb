//go:build unix

package mutants

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup has cmd start in a process group of its own, and end with all that it has started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// lock takes f for this process, as long as it has it open.
//
// Errors: EWOULDBLOCK somebody else has it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
