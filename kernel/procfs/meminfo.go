package procfs

import (
	"fmt"
	"strings"
)

// Memory is what is known of the machine's memory, in bytes.
type Memory struct {
	Total  uint64 // RAM the kernel may use
	Free   uint64 // not in use
	Heap   uint64 // Go objects in use
	Idle   uint64 // held by the Go heap but unused
	Stack  uint64 // goroutine stacks
	Image  uint64 // text and data of the kernel
	Frames uint64 // programs, their page tables, and the contents of files
	Files  uint64 // of that the contents of files, which are nowhere else
	Lines  []MemLine
}

// MemLine is a further line of /proc/meminfo.
type MemLine struct {
	Name  string
	Bytes uint64
}

// Available is what could be allocated without growing anything.
func (m Memory) Available() uint64 { return m.Free + m.Idle }

// meminfo writes the lines of Linux's /proc/meminfo that have a meaning here, those that free
// and its like ask for, and some of our own.
func (m Memory) meminfo() string {
	var b strings.Builder
	for _, l := range append([]MemLine{
		{"MemTotal", m.Total}, {"MemFree", m.Free}, {"MemAvailable", m.Available()},
		{"Buffers", 0}, {"Cached", m.Files}, {"SwapTotal", 0}, {"SwapFree", 0}, {"Shmem", m.Files},
		{"GoHeap", m.Heap}, {"GoHeapIdle", m.Idle}, {"KernelStack", m.Stack}, {"KernelImage", m.Image},
		{"Frames", m.Frames},
	}, m.Lines...) {
		fmt.Fprintf(&b, "%-15s %8d kB\n", l.Name+":", l.Bytes/1024)
	}
	return b.String()
}
