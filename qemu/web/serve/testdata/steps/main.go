// Command steps prints how many steps some numbers take to one.
package main

// A walk is a way to one, as far as it has been
// gone.
type walk struct{ steps int }

//go:noinline
func (w *walk) to1(n int) {
	for n != 1 {
		if even(n) {
			n /= 2
		} else {
			n = 3*n + 1
		}
		w.steps++
	}
}

func main() {
	for n := 1; n <= 6; n++ {
		w := new(walk)
		w.to1(n)
		show(n, w.steps)
	}
}

func even(n int) bool { return n%2 == 0 } // inlined: it is no line of to1
