//go:build tamago

package returns

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"time"

	"sonde/kernel/irq"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

// life does what the runtime's functions are for, in particular those that look at
// stacks: panics, Goexit, deferred calls of all kinds, callers, blocking, collections.
// It returns what it has seen, which is the same each time.
func life() string {
	var b strings.Builder
	for _, f := range []func() string{panics, deferred, exits, whoCalls, blocks} {
		fmt.Fprintf(&b, "%s\n", f())
	}
	return b.String()
}

// caught calls f and returns what it panics with.
func caught(f func()) (what string) {
	defer func() { what = fmt.Sprint(recover()) }()
	f()
	return "nothing"
}

var (
	zero    int
	noPoint *point
	three   = []int{1, 2, 3}
	nobody  fmt.Stringer
)

func panics() string {
	return strings.Join([]string{
		caught(func() { panic("plain") }),
		caught(func() { panic(fmt.Errorf("an error")) }),
		caught(func() { three[zero+7]++ }),
		caught(func() { three = three[zero+5:] }),
		caught(func() { three = three[zero+2 : zero+1] }),
		caught(func() { zero = 5 / zero }),
		caught(func() { zero <<= zero - 1 }),
		caught(func() { noPoint.x++ }),
		caught(func() { _ = nobody.String() }),
		caught(func() { _ = any(zero).(string) }),
		caught(func() { _ = [4]int(three) }),
		caught(func() { _ = make([]byte, zero-1) }),
		caught(func() { close((chan int)(nil)) }),
		caught(func() { (map[int]int)(nil)[1] = 1 }),
		caught(func() { panic(nil) }),
		caught(func() { caught(func() { panic("inner") }); panic("outer") }),
		caught(func() { defer func() { panic("second") }(); panic("first") }),
		caught(func() { targets.Deferred(nil, 3) }),
	}, "; ")
}

// deferred makes every kind of deferred call: open-coded, in a loop, on the stack, in a
// range over a function.
func deferred() string {
	var b strings.Builder
	func() {
		defer b.WriteString("open ")
		for i := range 3 {
			defer fmt.Fprint(&b, "loop", i, " ")
		}
	}()
	func() {
		if zero == 0 {
			defer b.WriteString("maybe ")
		}
		for i := range pairs() {
			defer fmt.Fprint(&b, "range", i, " ")
		}
	}()
	func() {
		defer func() { fmt.Fprint(&b, recover(), " ") }()
		for i := range pairs() {
			defer func() { fmt.Fprint(&b, "panicking", i, " ") }()
		}
		panic("ranged")
	}()
	return b.String()
}

func pairs() iter.Seq[int] {
	return func(yield func(int) bool) { _ = yield(1) && yield(2) }
}

// exits ends goroutines in the three ways Goexit can go.
func exits() string {
	var b strings.Builder
	for _, f := range []func(){
		func() { runtime.Goexit() },
		func() { defer func() { recover(); runtime.Goexit() }(); panic("then exit") },
		func() { // the panic is recovered beyond the Goexit, which continues
			defer func() { fmt.Fprint(&b, recover(), " ") }()
			func() {
				defer func() { panic("while exiting") }()
				unwound(3, runtime.Goexit)
			}()
		},
	} {
		done := make(chan bool)
		go func() {
			defer close(done)
			defer b.WriteString("exit ")
			defer runtime.GC()
			f()
			b.WriteString("not reached")
		}()
		<-done
	}
	return b.String()
}

// whoCalls looks at the stack in all ways, in a goroutine: its creator is on it.
func whoCalls() string {
	var b strings.Builder
	done := make(chan bool)
	go func() {
		defer close(done)
		for _, name := range []string{"runtime.Callers", "runtime.Stack", "runtime.Caller"} {
			outermost(func() { b.WriteString(looks[name]() + "\n") })
		}
	}()
	<-done
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' { // goroutines have new numbers
			return -1
		}
		return c
	}, b.String())
}

// blocks waits in all ways, while the stacks of waiting goroutines are scanned.
func blocks() string {
	var e irq.Event
	c, done := make(chan int), make(chan bool)
	go func() {
		defer close(done)
		e.Wait(2e6)
	}()
	go func() {
		time.Sleep(time.Millisecond)
		c <- 1
	}()
	runtime.GC()
	select {
	case <-c:
	case <-time.After(suites.Limit):
		return "nobody sends"
	}
	<-done
	runtime.Gosched()
	n, _ := during(1, func() { targets.Grow(300); runtime.GC() })
	return fmt.Sprint("waited ", n)
}
