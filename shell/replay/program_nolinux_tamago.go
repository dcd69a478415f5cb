//go:build tamago && nolinux

package replay

import (
	"syscall"

	"sonde/kernel/refusal"
)

// A filming is a camera at a place in programs, of which there are none.
type filming struct{}

func (s *Shot) beginProgram(Request) error {
	return refusal.New(syscall.ENOSYS, "this kernel runs no programs")
}

func (f *filming) close()      {}
func (f *filming) take() *Take { return nil }
