//go:build !tamago

package screen

// self is the number of the CPU that this runs on.
func self() uint32 { return 0 }
