//go:build tamago

package load

import (
	"sync/atomic"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
)

// The functions that labs probe. Their entries differ: with a stack check and without, with a large
// frame, with arguments in different registers. Each counts on which CPU it runs.

// here counts the calls by CPU.
var here [trap.MaxCPUs]atomic.Int64

// Letter has no stack check.
//
//go:noinline
func Letter(n int) int {
	here[cpu.ID()].Add(1)
	return n + 1
}

// Parcel has a stack check, and a frame.
//
//go:noinline
func Parcel(n int) int {
	here[cpu.ID()].Add(1)
	return Label(n) + Label(n+1)
}

// Label is called by others only.
//
//go:noinline
func Label(n int) int { return n ^ 1 }

// Crate has a frame that is larger than what a stack check covers without a subtraction.
//
//go:noinline
func Crate(n int) int {
	here[cpu.ID()].Add(1)
	var room [600]int
	room[n%len(room)] = Label(n)
	return room[(n+1)%len(room)]
}

// Stamp has several arguments and results.
//
//go:noinline
func Stamp(a int, s string, b []byte) (int, bool) {
	here[cpu.ID()].Add(1)
	return a + len(s) + len(b), a > 0
}

// Scale works on another kind of registers.
//
//go:noinline
func Scale(f float64) float64 {
	here[cpu.ID()].Add(1)
	return f * 1.5
}

// targets are the functions that "calls" can call, by name.
var targets = map[string]func(i int){
	"Letter": func(i int) { Letter(i) },
	"Parcel": func(i int) { Parcel(i) },
	"Crate":  func(i int) { Crate(i) },
	"Stamp":  func(i int) { Stamp(i, "first class", nil) },
	"Scale":  func(i int) { Scale(float64(i)) },
}
