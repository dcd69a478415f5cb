package goabi

import (
	"reflect"
	"testing"
)

func TestCallFrame(t *testing.T) {
	type pair struct {
		a int32
		b float64
	}
	type arrays struct {
		one [1]string
		no  [0]int
	}
	for _, c := range []struct {
		name       string
		f          any
		args, size uintptr
	}{
		{"nothing", func() {}, 0, 0},
		{"one word", func(int) {}, 0, 8},
		{"small ones spill side by side", func(int8, int8, int16, int32) {}, 0, 8},
		{"small ones are aligned", func(int8, int64, int8) {}, 0, 24},
		{"nine words", func(a, b, c, d, e, f, g, h, i int) {}, 0, 72},
		{"ten words", func(a, b, c, d, e, f, g, h, i, j int) {}, 8, 80},
		{"a string that does not fit, and a word that does", func(a, b, c, d string, s string, w int) {}, 16, 16 + 4*16 + 8},
		{"fifteen reals", func(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o float64) {}, 0, 120},
		{"sixteen reals", func(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64) {}, 8, 128},
		{"complex", func(a complex128, b complex64) {}, 0, 24},
		{"an array of two", func([2]byte) {}, 8, 8},
		{"an array of one", func([1]byte) {}, 0, 8},
		{"a slice, an interface, a map, a func, a channel", func([]int, any, map[int]int, func(), chan int) {}, 0, 8 * 8},
		{"a struct", func(pair) {}, 0, 16},
		{"a struct with arrays", func(arrays) {}, 0, 24}, // padded, because a pointer to its last field points behind it
		{"nothing at all, on the stack", func(struct{}, int) {}, 0, 8},
		{"results in registers", func() (int, string, error) { panic(0) }, 0, 0},
		{"results on the stack", func() [3]int { panic(0) }, 0, 24},
		{"arguments and results", func([3]byte, int) [2]int32 { panic(0) }, 8, 24},
		{"the rest", func(int, ...string) {}, 0, 32},
	} {
		args, size := CallFrame(reflect.TypeOf(c.f))
		if args != c.args || size != c.size {
			t.Errorf("%s: %d, %d, want %d, %d", c.name, args, size, c.args, c.size)
		}
	}
}
