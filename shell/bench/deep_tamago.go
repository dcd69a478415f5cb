//go:build tamago

package bench

import "sonde/kernel/cpu"

// deepCalls is how often the recursive function is called: a multiple of each depth.
const deepCalls = 64_000

// plantDeep has a return probe on deep. The cost of a call must not depend on how many are in progress.
func plantDeep(depth int) func() (func(), error) {
	return func() (func(), error) { return plantReturn("sonde/shell/bench.deep", depth) }
}

// perDeepCall returns picoseconds per call of deep. Meanwhile the stack grows, in a goroutine of its own, and moving it
// needs the real return addresses.
func perDeepCall(depth int) int64 {
	done := make(chan int64)
	go func() {
		from := cpu.Nanotime()
		for range deepCalls / depth {
			//lint:ignore SA4017 the calls are what is measured
			deep(depth)
		}
		done <- cpu.Nanotime() - from
	}()
	return <-done * 1000 / deepCalls
}

// deep calls itself until n calls are in progress.
//
//go:noinline
func deep(n int) int {
	if n == 1 {
		return 1
	}
	return deep(n-1) + 1
}
