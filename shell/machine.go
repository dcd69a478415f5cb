package shell

import (
	"time"

	"sonde/kernel/firmware"
	"sonde/kernel/kthread"
	"sonde/kernel/procfs"
)

// Machine is the information about the machine and the operations on it for commands. boot fills it
// in; any function may be nil.
type Machine struct {
	Uname    func() Uname
	Uptime   func() time.Duration
	Now      func() time.Time
	CPUs     func() []procfs.CPU
	Memory   func() procfs.Memory
	Load     func() procfs.Load
	Tasks    func() []Task // nil: the table of kthread
	Poweroff func() error  // returns only if it fails
	Reboot   func() error  // returns only if it fails
	Programs Programs      // nil: programs cannot run
	Firmware *firmware.Firmware
	Running  func() []int // the process on each CPU, 0: none
}

// Uname is what uname(1) prints.
type Uname struct {
	System, Node, Release, Version, Machine string
}

// Task is one line of ps.
type Task struct {
	ID    int
	Name  string
	State string        // as for programs: R runs or is runnable, S waits; X has ended
	CPU   int           // the CPU it runs on; -1: none
	Age   time.Duration // since its start
	Note  string        // the reason of its wait, or of its end
}

// tasks returns the tasks of the machine.
func (m *Machine) tasks() []Task {
	if m.Tasks != nil {
		return m.Tasks()
	}
	var all []Task
	for _, s := range kthread.Tasks() {
		t := Task{s.ID, s.Name, "R", s.CPU, time.Since(s.Started), s.Waits}
		switch {
		case s.State != kthread.Running:
			t.State, t.Note = "X", string(s.State)
		case s.Waits != "":
			t.State = "S"
		}
		all = append(all, t)
	}
	return all
}
