//go:build !tamago && !nolinux

package kwatch

// film implements program: nothing is hit on the host.
func (u *user) film(*Camera) (restore func()) { return func() {} }
