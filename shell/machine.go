package shell

import (
	"time"

	"sonde/kernel/firmware"
	"sonde/kernel/kthread"
	"sonde/kernel/proc"
	"sonde/kernel/procfs"
)

// Machine is what commands know of the machine and can do with it. boot fills it
// in; any function may be missing.
type Machine struct {
	Uname    func() Uname
	Uptime   func() time.Duration
	Now      func() time.Time
	CPUs     func() []procfs.CPU
	Memory   func() procfs.Memory
	Load     func() procfs.Load
	Tasks    func() []Task // nil: the table of kthread
	Poweroff func() error  // returns only if it fails
	Reboot   func() error  // returns only if it fails, too
	Programs *proc.Table   // nil: there can be no programs
	Firmware *firmware.Firmware
	Running  func() []int // which process each CPU runs, 0: none
}

// Uname is what uname(1) prints.
type Uname struct {
	System, Node, Release, Version, Machine string
}

// Task is one line of ps.
type Task struct {
	ID    int
	Name  string
	State string        // as programs have it: R runs or wants to, S waits; X has ended
	CPU   int           // the CPU it runs on; -1: none
	Age   time.Duration // since its start
	Note  string        // what it waits for, or how it ended
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
