package kprobes

import (
	"sonde/kernel/text"
	"sonde/kprobes/machine"
)

// Detours is the memory for detours, which package optprobe allocates.
func Detours() *text.Pool { return machine.This.Detours }

// Slots is the memory for copies of single instructions.
func Slots() *text.Pool { return machine.This.Slots }
