//go:build tamago

// Package mistakes is a module whose handlers do what handlers must not do.
// TestModulesFromElsewhere builds it as part of another module, and compares the log with
// the comments after the lines that are at fault.
package mistakes

import (
	"fmt"
	"io"
	"sync"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

func init() {
	module.Register(&module.Module{Name: "mistakes", Doc: "handlers that break the rules", Init: commit, Exit: func() {}})
}

var (
	said   string
	list   []int
	counts = map[uint64]int{1: 1}
	queue  = make(chan int, 10)
	mu     sync.Mutex
	small  [3]int
	none   *int
	sum    int
)

type handler = func(*kprobes.Kprobe, *amd64.Regs) int

func format(*kprobes.Kprobe, *amd64.Regs) int {
	said = fmt.Sprintf("hit of %s", "victim") // allocates memory: fmt.Sprintf
	return 0
}

func grow(*kprobes.Kprobe, *amd64.Regs) int {
	list = append(list, sum) // allocates memory: append
	return 0
}

func count(_ *kprobes.Kprobe, r *amd64.Regs) int {
	counts[r.AX]++ // writes to a map
	return 0
}

func send(*kprobes.Kprobe, *amd64.Regs) int {
	queue <- 1 // channel operation: send
	return 0
}

func lock(*kprobes.Kprobe, *amd64.Regs) int {
	mu.Lock() // uses a mutex: sync.(*Mutex).Lock
	defer mu.Unlock()
	return 0
}

func sleep(*kprobes.Kprobe, *amd64.Regs) int {
	time.Sleep(time.Millisecond) // sleeps: time.Sleep
	return 0
}

func start(*kprobes.Kprobe, *amd64.Regs) int {
	go func() { sum++ }() // starts a goroutine
	return 0
}

func fail(*kprobes.Kprobe, *amd64.Regs) int {
	panic("what now?") // panic: what now?
}

func index(_ *kprobes.Kprobe, r *amd64.Regs) int {
	return small[r.AX%4+3] // panic: index out of range [5] with length 3
}

func follow(*kprobes.Kprobe, *amd64.Regs) int {
	return *none // nil pointer dereference (#PF page fault)
}

func loop(*kprobes.Kprobe, *amd64.Regs) int {
	for { // it runs too long
		sum++
	}
}

func recovers(*kprobes.Kprobe, *amd64.Regs) int {
	defer func() { recover() }()
	panic(fmt.Errorf) // panic: func(string, ...interface {}) error
}

// A func value and an interface, in variables.
var (
	report           = func() { list = append(list, sum) } // allocates memory: append
	sink   io.Writer = written{}
)

type written struct{}

func (written) Write(p []byte) (int, error) {
	list = append(list, len(p)) // allocates memory: append
	return 0, nil
}

func value(*kprobes.Kprobe, *amd64.Regs) int {
	report()
	return 0
}

func method(*kprobes.Kprobe, *amd64.Regs) int {
	sink.Write(nil)
	return 0
}

// victim has the probes.
//
//go:noinline
func victim(n int) int { return n * 3 }

func commit() error {
	for _, h := range []handler{format, grow, count, send, lock, sleep, start, fail, index, follow, loop, recovers, value, method} {
		k := &kprobes.Kprobe{SymbolName: "mistakes.victim", PreHandler: h}
		if err := kprobes.RegisterKprobe(k); err != nil {
			return err
		}
		if got := victim(2); got != 6 {
			printk.Err("mistakes: victim returned %d", got)
		}
		kprobes.UnregisterKprobe(k)
	}
	return nil
}
