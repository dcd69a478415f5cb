//go:build !tamago

package tracefs

// The host stands for a machine with two CPUs, on which time stands still.

func now() int64 { return 12_286_875_000 }

func numCPU() int { return 2 }
