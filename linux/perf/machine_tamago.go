//go:build tamago

package perf

import (
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/probe/attach"
	"sonde/probe/program"
)

func numCPU() int    { return cpu.Num() }
func timeNow() int64 { return cpu.Nanotime() }
func later(f func()) { grace.Call(f) }
func awaitCalls()    { grace.Barrier() }

// of says for whom a hit is.
func of(h *attach.Hit) whose {
	cpu := h.CPU()
	pid, tid := program.Whose(h, cpu)
	return whose{uint32(pid), uint32(tid), uint32(cpu), h.Time()}
}
