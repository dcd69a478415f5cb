//go:build !tamago

package frame

// kernelSource is memory of the test process, without a limit.
var kernelSource = new(Memory)
