package targets

import (
	"fmt"
	"math"
)

// Func is a Go function with a call of it whose result is known.
type Func struct {
	Name string // as the linker has it, after this package's path
	Call func() uint64
	Want uint64
	// Calls is how often Call enters the function.
	Calls uint64
}

var numbers = []uint64{5, 3, 8, 1, 9, 2}

// Funcs returns the Go functions to probe.
func Funcs() []Func {
	return []Func{
		{"Leaf", func() uint64 { return Leaf(7, 5) }, 26, 1},
		{"Small", func() uint64 { return Small(7) }, 45, 1},
		{"Medium", func() uint64 { return Medium(7) }, 148, 1},
		{"Large", func() uint64 { return Large(7) }, 58, 1},
		{"Nine", func() uint64 { return Nine(1, 2, 3, 4, 5, 6, 7, 8, 9) }, 285, 1},
		{"OnStack", func() uint64 { return OnStack([20]uint64{3: 4, 19: 5}, 3) }, 9, 1},
		{"Switch", func() uint64 {
			var s uint64
			for i := range uint64(10) {
				s += Switch(i)
			}
			return s
		}, 495, 10},
		{"Loop", func() uint64 { return Loop(numbers) }, 31, 1},
		{"Fib", func() uint64 { return Fib(6) }, 8, 25},
		{"Float", func() uint64 { return math.Float64bits(Float(3, 2)) }, math.Float64bits(6.5), 1},
		{"Deferred", deferredTwice, 84, 2},
		{"Text", func() uint64 { return Text(12) }, 23, 1},
		{"Dynamic", func() uint64 {
			return Dynamic(loud{6}, func(a uint64) uint64 { return a + 1 }, 7)
		}, 43, 1},
		{"loud.shout", func() uint64 {
			return Dynamic(loud{6}, func(a uint64) uint64 { return a + 1 }, 7)
		}, 43, 1},
		{"Generic[go.shape.uint64]", func() uint64 {
			return Generic(numbers, func(v uint64) uint64 { return 2 * v })
		}, 56, 1},
		{"Channel", func() uint64 { return Channel(41) }, 42, 1},
		{"Grow", func() uint64 { return Grow(20) }, 210, 21},
	}
}

func deferredTwice() uint64 {
	a, err1 := Deferred(numbers, 6)
	b, err2 := Deferred(numbers, 0)
	if fmt.Sprint(err1, err2) != "recovered <nil>" {
		return 0
	}
	return a + b + 2
}
