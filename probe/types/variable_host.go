//go:build !tamago

package types

// Variable names what is at an address of the kernel: on the host, nothing.
func Variable(uint64, string, []uint64) string { return "" }
