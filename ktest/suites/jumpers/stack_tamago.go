//go:build tamago

package jumpers

import (
	"errors"
	"syscall"

	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("jumpers/all_stack_arguments_and_spills", allOfTheStack)
	suites.Add("jumpers/more_than_max_stack_size_is_refused", tooMuchStack)
}

// full takes 800 bytes on the stack, and all argument registers, which add 192 bytes where they are
// spilled.
//
//go:noinline
func full(v [100]uint64, a, b, c, d, e, f, g, h, i uint64,
	j, k, l, m, n, o, p, q, r, s, t, u, w, x, y float64) (sum uint64) {
	for i, x := range v {
		sum += uint64(i+1) * x
	}
	return sum + a + b + c + d + e + f + g + h + i + uint64(j+k+l+m+n+o+p+q+r+s+t+u+w+x+y)
}

var fullSum uint64

// jFull spills all its arguments, because it calls full twice.
func jFull(v [100]uint64, a, b, c, d, e, f, g, h, i uint64,
	j, k, l, m, n, o, p, q, r, s, t, u, w, x, y float64) uint64 {
	spoil(a)
	sum := full(v, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x, y)
	v = [100]uint64{}
	saw(sum == fullSum)
	return 0
}

func allOfTheStack(t *suites.T) {
	var v [100]uint64
	for i := range v {
		v[i] = uint64(i*i + 1)
	}
	call := func() uint64 {
		return full(v, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
	}
	fullSum = call()
	right, seen = 0, 0
	j := kprobes.NewJprobe(full, jFull)
	t.Must(kprobes.RegisterJprobe(j))
	for range 10 {
		if sum := call(); sum != fullSum {
			t.Errorf("full returns %d, want %d", sum, fullSum)
		}
	}
	kprobes.UnregisterJprobe(j)
	if seen != 10 || right != 10 {
		t.Errorf("handler called %d times, right arguments %d times, want 10", seen, right)
	}
}

//go:noinline
func over(v [129]uint64) uint64 { return v[0] + v[128] }

// tooMuchStack: a jprobe whose arguments would be cut off is refused, and nothing changes.
func tooMuchStack(t *suites.T) {
	changed := suites.TextChanged()
	j := kprobes.NewJprobe(over, func([129]uint64) uint64 { kprobes.JprobeReturn(); return 0 })
	if err := kprobes.RegisterJprobe(j); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("registered: %v", err)
	}
	suites.Equal(t, "text", suites.TextChanged(), changed)
	if n := over([129]uint64{0: 3, 128: 4}); n != 7 {
		t.Errorf("over returns %d", n)
	}
}
