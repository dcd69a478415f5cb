// Package task has what Linux's tools read of threads: structures that BTF describes by Linux's names
// (gotypes/vmlinux/linux.go), with the fields that tools ask for.
package task

import "unsafe"

// A Char is C's char, by which tools see that an array of them is text.
type Char int8

// A Task is a thread: Linux's struct task_struct.
type Task struct {
	PID, TGID           int32 // of the thread, and of the process
	Parent, GroupLeader *Task
	Entity              Entity
	Comm                [16]Char
}

// Where fields of a Task are, for programs that read one at its address.
const (
	OffsetTGID   = int(unsafe.Offsetof(Task{}.TGID))
	OffsetParent = int(unsafe.Offsetof(Task{}.Parent))
	OffsetLeader = int(unsafe.Offsetof(Task{}.GroupLeader))
	OffsetComm   = int(unsafe.Offsetof(Task{}.Comm))
)

// An Entity is what of a thread waits for a CPU: struct sched_entity.
type Entity struct{ Queue *Queue }

// A Queue is what waits for a CPU: struct cfs_rq.
type Queue struct{ Running uint32 } // which the CPU runs, or that wait for it

// OOM is why a process is ended for lack of memory, and which: struct oom_control.
type OOM struct {
	Pages  uint64 // there are in all
	Chosen *Task
}

// SetComm sets the name.
func (t *Task) SetComm(name string) {
	for i := range t.Comm {
		c := byte(0)
		if i < len(name) && i < len(t.Comm)-1 {
			c = name[i]
		}
		t.Comm[i] = Char(c)
	}
}
