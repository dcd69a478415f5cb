package task

// Trap context. The thread that a CPU runs, as a handler looks at it.

import (
	"unsafe"

	"sonde/arch/amd64/trap"
)

// kernel are the tasks of goroutines that run for no process. They are filled in when somebody asks: goroutines
// share one if their numbers are that far apart.
var kernel [1 << 8]Task

// queues are by CPU.
var queues [trap.MaxCPUs]Queue

// Kernel returns the task of a goroutine that runs for no process, under the number and the name that it has as a thread.
func Kernel(tid uint32, comm string) *Task {
	t := &kernel[tid%uint32(len(kernel))]
	t.PID = int32(tid)
	t.SetComm(comm)
	return t
}

// On notes that a CPU runs t, and how many others want to be run there.
func (t *Task) On(cpu, others int) {
	q := &queues[cpu%trap.MaxCPUs]
	q.Running = uint32(others)
	if t.PID != 0 {
		q.Running++
	}
	// No write barrier: a queue is no part of the heap.
	*(*uintptr)(unsafe.Pointer(&t.Entity.Queue)) = uintptr(unsafe.Pointer(q))
}
