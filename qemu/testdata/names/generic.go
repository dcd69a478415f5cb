// Functions of Go whose names have brackets, blanks, braces and quotes.
package main

type pair[K comparable, V any] struct {
	key K
	val V
}

//go:noinline
func (p *pair[K, V]) set(k K, v V) { p.key, p.val = k, v }

//go:noinline
func largest[T int | float64](a, b T) T { return max(a, b) }

type odd struct {
	A, B string
	C    any
}

//go:noinline
func same(a, b any) bool { return a == b }

func main() {
	var p pair[string, struct {
		X int `json:"x,y"`
	}]
	for range 7 {
		p.set("", p.val)
	}
	largest(1, 2)
	largest(1.5, 2)
	same(odd{A: "x"}, odd{A: "y"})
}
