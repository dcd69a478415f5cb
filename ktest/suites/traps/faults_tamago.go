//go:build tamago

package traps

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"unsafe"

	"sonde/ktest/suites"
)

func init() {
	suites.Add("traps/faults_in_goroutines_are_panics", faultsArePanics)
	suites.Add("traps/faults_while_collecting", faultsWhileCollecting)
	suites.Add("traps/wild_pointer_is_recoverable", wildPointer)
	suites.Add("traps/panic_stack_names_the_place", panicStack)
	suites.Add("traps/fault_near_the_end_of_the_stack", faultNearStackEnd)
}

type node struct {
	pad  [3]uint64
	next *node
	f    func()
	m    map[int]int
}

// The operands that fault are variables, so that the compiler does not know their values.
var (
	nilNode *node
	zero    int
	ten     = 10
	list    = []int{1, 2, 3}
	table   map[int]int
)

// faults lists what goes wrong in ordinary code, with Go's text for each.
var faults = []struct {
	name string
	f    func()
	says string
}{
	{"nil read", func() { sink = nilNode.pad[2] }, "invalid memory address or nil pointer dereference"},
	{"nil write", func() { nilNode.next = nil }, "invalid memory address or nil pointer dereference"},
	{"nil func", func() { (&node{}).f() }, "invalid memory address or nil pointer dereference"},
	{"index", func() { sink = uint64(list[ten]) }, "index out of range [10] with length 3"},
	{"divide", func() { sink = uint64(ten / zero) }, "integer divide by zero"},
	{"nil map", func() { table[1] = 2 }, "assignment to entry in nil map"},
	{"slice", func() { sink = uint64(len(list[ten:])) }, "slice bounds out of range"},
}

var sink uint64

// caught calls f and returns the panic that it ends with.
func caught(f func()) (e any) {
	defer func() { e = recover() }()
	f()
	return nil
}

func faultsArePanics(t *suites.T) {
	for _, f := range faults {
		e := caught(f.f)
		err, ok := e.(runtime.Error)
		if !ok || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: panic %v, want %q", f.name, e, f.says)
		}
	}
}

// faultsWhileCollecting makes every fault happen a thousand times in several
// goroutines, garbage collection running without a pause.
func faultsWhileCollecting(t *suites.T) {
	const goroutines, rounds = 8, 1000
	collections := int32(suites.Rounds(4, 10))
	var left, done, faulted atomic.Int32
	left.Store(goroutines)
	for g := range goroutines {
		t.Go(func() {
			defer left.Add(-1)
			for i := 0; i < rounds || done.Load() < collections; i++ {
				f := &faults[(g+i)%len(faults)]
				if e := fmt.Sprint(caught(f.f)); !strings.Contains(e, f.says) {
					t.Fatalf("%s: panic %v, want %q", f.name, e, f.says)
				}
				faulted.Add(1)
			}
		})
	}
	for left.Load() > 0 {
		runtime.GC()
		done.Add(1)
	}
	t.Wait()
	t.Logf("%d faults during %d collections", faulted.Load(), done.Load())
}

// wild points to where nothing is.
var wild uintptr = 0x123456789000

// wildPointer causes page faults far from address 0. They are fatal, unless the goroutine has asked
// for a panic (debug.SetPanicOnFault).
func wildPointer(t *suites.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, c := range []struct {
		name string
		f    func()
	}{
		// Safe because: it is not, and that is the point.
		{"read", func() { sink = **(**uint64)(unsafe.Pointer(&wild)) }},
		{"write", func() { **(**uint64)(unsafe.Pointer(&wild)) = 1 }},
	} {
		err, ok := caught(c.f).(interface {
			error
			Addr() uintptr
		})
		if !ok || err.Addr() != wild {
			t.Errorf("%s: %v, want a panic that tells %#x", c.name, err, wild)
		}
	}
}

//go:noinline
func dereference(n *node) uint64 { return n.pad[1] }

func panicStack(t *suites.T) {
	var stack string
	func() {
		defer func() {
			recover()
			stack = string(debug.Stack())
		}()
		dereference(nilNode)
	}()
	for _, want := range []string{"traps.dereference(", "faults_tamago.go:", "traps.panicStack"} {
		if !strings.Contains(stack, want) {
			t.Errorf("the stack does not say %q:\n%s", want, stack)
		}
	}
}

// faultNearStackEnd faults at every depth of a small stack, so that some of the
// panics find no room on it and must grow it first.
func faultNearStackEnd(t *suites.T) {
	done := make(chan int)
	for depth := range 100 {
		go func() {
			n := 0
			if e := caught(func() { deep(depth) }); e != nil {
				n = 1
			}
			done <- n
		}()
		if <-done != 1 {
			t.Errorf("no panic at depth %d", depth)
		}
	}
}

//go:noinline
func deep(n int) uint64 {
	if n == 0 {
		return dereference(nilNode)
	}
	return deep(n-1) + 1
}
