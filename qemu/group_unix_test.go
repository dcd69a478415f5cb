//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup has cmd start in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends cmd and all that it has started, QEMU too.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// priority is that of this process group.
func priority() (int, error) { return syscall.Getpriority(syscall.PRIO_PGRP, 0) }
