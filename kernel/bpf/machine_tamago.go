//go:build tamago

package kbpf

import (
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/mm/frame"
)

func takeRange(n int) ([]byte, error) { return frame.TakeRange(n) }
func giveRange(mem []byte)            { frame.GiveRange(mem) }

func cpus() int { return cpu.Num() }

//go:nosplit
func irqOff() uint64 { return cpu.IRQOff() }

//go:nosplit
func irqRestore(flags uint64) { cpu.IRQRestore(flags) }

func synchronize() { grace.Synchronize() }
