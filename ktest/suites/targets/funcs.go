package targets

import (
	"errors"
	"strings"
)

// Go functions, one for each way the compiler treats a function. None may be
// inlined: a probe on the function would not see the copies.

// Leaf has no frame and no stack check.
//
//go:noinline
func Leaf(a, b uint64) uint64 { return a*3 + b }

// Small has a small frame: CMPQ SP, 16(R14).
//
//go:noinline
func Small(a uint64) uint64 { return Leaf(a, 1) + Leaf(a, 2) }

// Medium has a frame beyond what the guard area covers: LEAQ -n(SP), R12.
//
//go:noinline
func Medium(a uint64) uint64 {
	var buf [100]uint64
	for i := range buf {
		buf[i] = Leaf(a, uint64(i))
	}
	return buf[a%100] + buf[99]
}

// Large has one of more than 4 KiB: SUBQ with a check for wrapping.
//
//go:noinline
func Large(a uint64) uint64 {
	var buf [1000]uint64
	for i := range 10 {
		buf[i*100] = Leaf(a, uint64(i))
	}
	return buf[a%10*100] + buf[900]
}

// Nine takes an argument in each register of the calling convention.
//
//go:noinline
func Nine(a, b, c, d, e, f, g, h, i uint64) uint64 {
	return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i
}

// OnStack takes an argument that is too large for registers.
//
//go:noinline
func OnStack(v [20]uint64, i int) uint64 { return v[i] + v[19] }

// Switch is compiled to a jump table.
//
//go:noinline
func Switch(n uint64) uint64 {
	switch n {
	case 0:
		return 10
	case 1:
		return 21
	case 2:
		return 32
	case 3:
		return 43
	case 4:
		return 54
	case 5:
		return 65
	case 6:
		return 76
	case 7:
		return 87
	case 8:
		return 98
	}
	return n
}

// Loop jumps backwards and checks bounds.
//
//go:noinline
func Loop(list []uint64) (sum uint64) {
	for i := range list {
		sum += list[len(list)-1-i] ^ uint64(i)
	}
	return sum
}

// Fib recurses.
//
//go:noinline
func Fib(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return Fib(n-1) + Fib(n-2)
}

// Float uses SSE registers for arguments and results.
//
//go:noinline
func Float(a, b float64) float64 { return (a+b)*(a-b) + a/b }

// Deferred recovers from a panic of its own and returns from the deferred call.
//
//go:noinline
func Deferred(list []uint64, i int) (v uint64, err error) {
	defer func() {
		if e := recover(); e != nil {
			v, err = 77, errors.New("recovered")
		}
	}()
	return list[i], nil
}

// Text allocates strings and a map.
//
//go:noinline
func Text(n int) uint64 {
	m := map[string]int{}
	for i := range n {
		m[strings.Repeat("x", i)] = i
	}
	return uint64(m[strings.Repeat("x", n-1)]) + uint64(len(m))
}

type shouter interface{ shout(uint64) uint64 }

type loud struct{ by uint64 }

//go:noinline
func (l loud) shout(a uint64) uint64 { return a * l.by }

// Dynamic calls through an interface and a closure.
//
//go:noinline
func Dynamic(s shouter, f func(uint64) uint64, a uint64) uint64 { return f(s.shout(a)) }

// Generic is instantiated with a dictionary.
//
//go:noinline
func Generic[T any](list []T, f func(T) uint64) (sum uint64) {
	for _, v := range list {
		sum += f(v)
	}
	return sum
}

// Channel blocks and is scheduled away in its middle.
//
//go:noinline
func Channel(a uint64) uint64 {
	c, d := make(chan uint64), make(chan uint64)
	go func() { d <- <-c + 1 }()
	c <- a
	return <-d
}

// Grow recurses n deep with 512 bytes a level, so that its stack must grow; the
// sum proves that every frame came back whole.
//
//go:noinline
func Grow(n uint64) uint64 {
	var pad [56]uint64
	pad[n%56] = n
	if n == 0 {
		return 0
	}
	sum := Grow(n - 1)
	return sum + pad[n%56]
}

// Count is what storms of calls call: something to check, and nothing slow.
//
//go:noinline
func Count(n uint64) uint64 { return Leaf(n, n) ^ n }

// CountWant is Count, to check the results of Count while that is probed.
func CountWant(n uint64) uint64 { return (n*3 + n) ^ n }
