// Package kthread runs goroutines that have a name, which ps lists and a panic shows.
//
// A panic ends only the thread that it happened in, with its stack in the log: most threads
// here are demos and helpers of handlers, and the machine should survive them. A thread
// that the kernel needs is started with RunCritical; its panic is an ordinary Go panic.
package kthread

import (
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unsafe"

	"sonde/kernel/printk"
)

// State is what a thread is at.
type State string

// The states that ps shows.
const (
	Running  State = "running"
	Done     State = "done"
	Panicked State = "panicked"
)

// keepEnded is how many ended threads ps still shows.
const keepEnded = 16

// Task is one thread.
type Task struct {
	ID       int
	Name     string
	Started  time.Time
	Critical bool
	done     chan struct{}
	g        unsafe.Pointer // its goroutine; guarded by table.mu, nil before it has begun
}

// Status is a Task at one moment.
type Status struct {
	*Task
	State State
	Ended time.Time // zero while running
	Waits string    // what for, while State is Running; "": it runs, or wants to
	CPU   int       // that it runs on; -1: none
}

var table struct {
	mu sync.Mutex
	// guarded by mu:
	lastID int
	tasks  []*Status // by ID
}

// Run starts f as a thread of that name. A panic in it is logged and ends it.
func Run(name string, f func()) *Task { return start(name, f, false) }

// RunCritical is Run for a thread whose panic must end the kernel.
func RunCritical(name string, f func()) *Task { return start(name, f, true) }

// Done is closed when the thread has ended.
func (t *Task) Done() <-chan struct{} { return t.done }

// Tasks returns the threads that run, and the last few that ended, by ID.
func Tasks() []Status {
	table.mu.Lock()
	defer table.mu.Unlock()
	all := make([]Status, len(table.tasks))
	for i, s := range table.tasks {
		all[i] = *s
		if s.State == Running && s.g != nil {
			all[i].Waits, all[i].CPU = now(s.g)
		}
	}
	return all
}

func start(name string, f func(), critical bool) *Task {
	t := &Task{Name: name, Started: time.Now(), Critical: critical, done: make(chan struct{})}
	s := &Status{Task: t, State: Running, CPU: -1}
	table.mu.Lock()
	table.lastID++
	t.ID = table.lastID
	table.tasks = append(table.tasks, s)
	table.mu.Unlock()
	go s.run(f)
	return t
}

// run calls f and notes how it ended; runtime.Goexit counts as done.
func (s *Status) run(f func()) {
	table.mu.Lock()
	s.g = self()
	table.mu.Unlock()
	normal := false
	defer func() {
		if normal {
			s.end(Done)
			return
		}
		r := recover()
		if r == nil {
			s.end(Done)
			return
		}
		printk.Err("kthread: %s (%d) panicked: %s", s.Name, s.ID, describe(r))
		printk.Lines(printk.LevelErr, string(debug.Stack()))
		s.end(Panicked)
		if s.Critical {
			panic(r)
		}
	}()
	As(s.Name, f)
	normal = true
}

// end notes the end of a thread and forgets those that ended long ago.
func (s *Status) end(state State) {
	table.mu.Lock()
	defer table.mu.Unlock()
	s.State, s.Ended = state, time.Now()
	ended := 0
	for _, other := range table.tasks {
		if other.State != Running {
			ended++
		}
	}
	for i := 0; ended > keepEnded; {
		if table.tasks[i].State == Running {
			i++
			continue
		}
		table.tasks = slices.Delete(table.tasks, i, i+1)
		ended--
	}
	close(s.done)
}

// describe makes text of what was panicked with.
func describe(r any) string {
	switch v := r.(type) {
	case error:
		return v.Error()
	case string:
		return v
	}
	return "a value that is neither error nor string"
}
