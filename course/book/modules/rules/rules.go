//go:build tamago

// Package rules has functions whose calls can be counted by hand: chapters 5, 6 and 9.
package rules

import (
	"errors"
	"unsafe"

	"sonde/kernel/module"
	"sonde/kernel/printk"
)

var (
	do    string
	n     int
	times = 1
)

func init() {
	module.Register(&module.Module{
		Name:   "rules",
		Doc:    "call functions n times: do=dig, do=small, do=fall, do=leaf",
		Params: module.Params{"do": module.String(&do, "which"), "n": module.Int(&n, "how often").Within(1, 10_000), "times": module.Int(&times, "all of it so often").Within(1, 10)},
		Init:   start,
		Exit:   func() {},
	})
}

func start() error {
	switch do {
	case "dig":
		done := make(chan bool)
		go func() { // with a new, small stack
			var top byte
			moved := dig(n-1, &top, uintptr(unsafe.Pointer(&top)))
			printk.Info("rules: dig was called %d times; the stack has moved: %v", n, moved > 0)
			close(done)
		}()
		<-done
	case "small":
		printk.Info("rules: small was called %d times, and the sum is %d", n, sum(n))
	case "fall":
		for range times {
			catch(n)
		}
		printk.Info("rules: fall was called %d times, and none has returned", n*times)
	case "leaf":
		s := 0
		for i := range n {
			s += leaf(i) + tiny(i)
		}
		printk.Info("rules: leaf and tiny were called %d times, and the sum is %d", n, s)
	default:
		return errors.New("give do=dig, do=small, do=fall or do=leaf")
	}
	return nil
}

// dig calls itself n times, and returns how often the stack has moved meanwhile. The runtime corrects the pointer top
// when it moves the stack, but not the number that says where top was.
//
//go:noinline
func dig(n int, top *byte, was uintptr) (moved int) {
	var frame [512]byte
	now := uintptr(unsafe.Pointer(top))
	if now != was {
		moved++
	}
	if n > 0 {
		frame[n%len(frame)] = 1
		moved += dig(n-1, top, now) + int(frame[(n+1)%len(frame)])
	}
	return moved
}

// sum calls small n times.
//
//go:noinline
func sum(n int) (s int) {
	for i := range n {
		s += small(i)
	}
	return s
}

// small is so short that the compiler copies it into its callers.
func small(i int) int { return i & 3 }

// catch calls fall n times, of which the last one panics, and recovers.
func catch(n int) {
	defer func() { recover() }()
	fall(n - 1)
}

// fall calls itself n times, and panics.
//
//go:noinline
func fall(n int) int {
	if n == 0 {
		panic("the bottom")
	}
	return fall(n-1) + 1
}

// leaf calls nothing and has no frame, so it has no stack check either.
//
//go:noinline
func leaf(i int) int { return i*i + 3*i + 1 }

// tiny has fewer bytes than a jump.
//
//go:noinline
func tiny(i int) int { return i & 3 }
