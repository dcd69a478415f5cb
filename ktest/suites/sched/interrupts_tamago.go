//go:build tamago

package sched

import (
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("sched/interrupts_off_keep_the_cpu", interruptsOff)
	suites.Add("sched/started_with_interrupts_off", startedWithInterruptsOff)
}

// asked spins until this goroutine has been asked to yield, which it cannot see: there is
// no call with a stack check in it. A slice is 10 ms.
func asked() {
	hz, _ := cpu.TSC()
	for end := cpu.Rdtsc() + hz/20; cpu.Rdtsc() < end; {
	}
}

// checked has a stack check, where goroutines yield.
//
//go:noinline
func checked() (sum int) {
	var a [200]int
	for i := range a {
		a[(i*7)%len(a)] += i
	}
	return a[3] + a[100]
}

// passed returns how many scheduling points this CPU passes in checked, when this
// goroutine is to yield.
func passed(off bool) uint64 {
	var flags uint64
	asked()
	if off {
		flags = cpu.IRQOff()
	}
	id := cpu.ID()
	before := grace.Now()[id]
	checked()
	after := grace.Now()[id]
	if off {
		cpu.IRQRestore(flags)
	}
	return after - before
}

// interruptsOff: code that has turned interrupts off continues, also when it has been asked to yield.
// The next goroutine would run with interrupts off.
func interruptsOff(t *suites.T) {
	yielded := 0
	for range 10 {
		if n := passed(true); n != 0 {
			t.Fatalf("%d scheduling points with interrupts off", n)
		}
		if passed(false) != 0 {
			yielded++
		}
	}
	if t.Logf("with interrupts on it has yielded %d times of 10", yielded); yielded == 0 {
		t.Errorf("nobody asked it to yield")
	}
}

// startedWithInterruptsOff: what is started with interrupts off runs on another CPU, whose
// thread has to be woken. The wake was once lost, and with it what the thread was given.
func startedWithInterruptsOff(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: there is no other to run it")
	}
	defer suites.NoCollection()()
	for range 20 {
		time.Sleep(2 * time.Millisecond) // the others are idle
		var ran atomic.Bool
		flags := cpu.IRQOff()
		go ran.Store(true)
		for limit := cpu.Nanotime() + int64(suites.Limit); !ran.Load() && cpu.Nanotime() < limit; {
			cpu.Pause()
		}
		cpu.IRQRestore(flags)
		if !ran.Load() {
			t.Fatalf("it did not run")
		}
	}
}
