//go:build tamago

// Package msr reads and writes model-specific registers. One that the processor does not have is an
// exception: package kernel/inspect survives that.
package msr

// Read returns a register.
//
// Context: any.
func Read(register uint32) uint64

// Write sets a register.
//
// Context: any.
func Write(register uint32, v uint64)
