package proc

import "sonde/probe/task"

// What tools see of threads by bpf(2): see package task. mu is held, but they look at any time.

// show describes t to tools. The first thread of a process is described by what the process has.
func (t *Thread) show() {
	p := t.process
	k := &p.task
	if t.TID != p.PID {
		k = new(task.Task)
	}
	k.PID, k.TGID, k.GroupLeader, k.Parent = int32(t.TID), int32(p.PID), &p.task, p.task.Parent
	k.SetComm(p.Name())
	t.task = k
}

// showParent tells of a new parent.
func (p *Process) showParent() {
	p.task.Parent = &p.parent.task
	for _, t := range p.threads {
		t.task.Parent = p.task.Parent
	}
}

// showName tells of a new name.
func (p *Process) showName() {
	p.task.SetComm(p.Name())
	for _, t := range p.threads {
		t.task.SetComm(p.Name())
	}
}
