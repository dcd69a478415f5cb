//go:build !tamago

package frame

// kernelSource is memory of the test's, as much as it takes.
var kernelSource = new(Memory)
