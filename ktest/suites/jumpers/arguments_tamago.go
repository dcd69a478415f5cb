//go:build tamago

package jumpers

import (
	"fmt"
	"reflect"

	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("jumpers/handler_sees_the_arguments", seesArguments)
	suites.Add("jumpers/function_gets_the_originals", getsOriginals)
	suites.Add("jumpers/handler_may_be_a_closure", closureHandler)
	suites.Add("jumpers/handler_with_deferred_calls_and_frames", deepHandler)
}

type pair struct{ a, b uint64 }

//go:noinline
func integers(a int8, b uint16, c int32, d uint64, e, f, g, h int) string {
	return fmt.Sprint(a, b, c, d, e, f, g, h)
}

//go:noinline
func texts(s string, p []byte, m map[int]int) string { return fmt.Sprint(s, string(p), cap(p), m[1]) }

//go:noinline
func reals(a float64, b float32, c complex128, d int, e float64) string {
	return fmt.Sprint(a, b, c, d, e)
}

//go:noinline
func structs(p pair, i any, f func() int, q *pair) string {
	return fmt.Sprint(p, i, f(), q.a, q.b)
}

// stacked takes 56 bytes on the stack: what does not fit into registers, and
// an array, which never goes there.
//
//go:noinline
func stacked(v [3]uint64, a, b, c, d, e, f, g, h int, i, j string) string {
	return fmt.Sprint(v, a, b, c, d, e, f, g, h, i, j)
}

// A subject is a function with a jprobe handler that compares its arguments with what call passes,
// and then overwrites them.
type subject struct {
	name  string
	probe *kprobes.Jprobe
	call  func() string
}

// right counts the handlers that saw what they should, seen all.
var right, seen int

// saw is what a handler calls at its end.
func saw(ok bool) {
	seen++
	if ok {
		right++
	}
	kprobes.JprobeReturn()
}

var (
	aMap  = map[int]int{1: 11}
	aPair = &pair{7, 8}
	bytes = []byte("slice")
)

func subjects() []subject {
	return []subject{
		{"integers", kprobes.NewJprobe(integers, jIntegers), func() string { return integers(-1, 2, -3, 4, 5, 6, 7, 8) }},
		{"texts", kprobes.NewJprobe(texts, jTexts), func() string { return texts("string", bytes[:3:4], aMap) }},
		{"reals", kprobes.NewJprobe(reals, jReals), func() string { return reals(1.5, -2.5, 3+4i, 5, 6.25) }},
		{"structs", kprobes.NewJprobe(structs, jStructs), func() string {
			return structs(pair{3, 4}, 5, func() int { return 6 }, aPair)
		}},
		{"stacked", kprobes.NewJprobe(stacked, jStacked), func() string {
			return stacked([3]uint64{1, 2, 3}, 6, 7, 8, 9, 10, 11, 12, 13, "i", "j")
		}},
	}
}

func jIntegers(a int8, b uint16, c int32, d uint64, e, f, g, h int) string {
	ok := a == -1 && b == 2 && c == -3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8
	a, b, c, d, e, f, g, h = 0, 0, 0, 0, 0, 0, 0, 0
	spoil(uint64(int(a) + int(b) + int(c) + int(d) + e + f + g + h))
	saw(ok)
	return ""
}

func jTexts(s string, p []byte, m map[int]int) string {
	ok := s == "string" && len(p) == 3 && cap(p) == 4 && p[0] == 's' && p[2] == 'i' && len(m) == 1
	s, p, m = "", nil, nil
	spoil(uint64(len(s) + len(p) + len(m)))
	saw(ok)
	return ""
}

func jReals(a float64, b float32, c complex128, d int, e float64) string {
	ok := a == 1.5 && b == -2.5 && c == 3+4i && d == 5 && e == 6.25
	a, b, c, d, e = a*3, b*3, c*c, 0, e/7
	spoil(uint64(a + float64(b) + real(c) + float64(d) + e))
	saw(ok)
	return ""
}

func jStructs(p pair, i any, f func() int, q *pair) string {
	n, isInt := i.(int)
	ok := p == pair{3, 4} && isInt && n == 5 && f() == 6 && q == aPair && q.b == 8
	p, i, f, q = pair{}, nil, nil, nil
	spoil(p.a)
	saw(ok)
	return ""
}

func jStacked(v [3]uint64, a, b, c, d, e, f, g, h int, i, j string) string {
	ok := v == [3]uint64{1, 2, 3} && a == 6 && b == 7 && g == 12 && h == 13 && i == "i" && j == "j"
	v = [3]uint64{9, 9, 9}
	i, j = "", ""
	spoil(v[a%3])
	saw(ok)
	return ""
}

// spoil overwrites registers, and stack below the handler's frame.
//
//go:noinline
func spoil(n uint64) (sum float64) {
	var pad [64]uint64
	for i := range pad {
		pad[i] = n + uint64(i)
		sum += float64(pad[63-i]) * 1.25
	}
	return sum
}

func seesArguments(t *suites.T) {
	for _, s := range subjects() {
		right, seen = 0, 0
		t.Must(kprobes.RegisterJprobe(s.probe))
		for range 10 {
			s.call()
		}
		kprobes.UnregisterJprobe(s.probe)
		if seen != 10 || right != 10 {
			t.Errorf("%s: handler called %d times, right arguments %d times, want 10", s.name, seen, right)
		}
	}
}

func getsOriginals(t *suites.T) {
	for _, s := range subjects() {
		want := s.call()
		t.Must(kprobes.RegisterJprobe(s.probe))
		for range 10 {
			if have := s.call(); have != want {
				t.Errorf("%s: %s, want %s", s.name, have, want)
			}
		}
		kprobes.UnregisterJprobe(s.probe)
		if l := s.probe.KP.Ledger(); l.Handled != 10 || l.Unexplained() != 0 {
			t.Errorf("%s: account %+v", s.name, l)
		}
	}
}

func closureHandler(t *suites.T) {
	var sum int
	j := kprobes.NewJprobe(plain, func(a, b int) int {
		sum += a * b
		kprobes.JprobeReturn()
		return 0
	})
	t.Must(kprobes.RegisterJprobe(j))
	defer kprobes.UnregisterJprobe(j)
	for i := range 10 {
		suites.Equal(t, "plain", plain(i, 2), i-2)
	}
	suites.Equal(t, "sum", sum, 90)
}

// deepHandler calls JprobeReturn from several frames below the handler's own.
func deepHandler(t *suites.T) {
	n := 0
	var down func(depth int)
	down = func(depth int) {
		if depth == 0 {
			n++
			kprobes.JprobeReturn()
		}
		down(depth - 1)
		n += 1000 // never
	}
	j := kprobes.NewJprobe(plain, func(a, b int) int { down(a); return 0 })
	t.Must(kprobes.RegisterJprobe(j))
	defer kprobes.UnregisterJprobe(j)
	for range 10 {
		suites.Equal(t, "plain", plain(9, 2), 7)
	}
	suites.Equal(t, "handlers", n, 10)
}

//go:noinline
func plain(a, b int) int { return a - b }

func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }
