// Mixed has functions of three calling conventions: Go's, that of Go's assembly, and C's. The names of the
// latter have dots, as compilers make them for parts and copies of functions.
package main

/*
long dotted(long a, long b) asm("main.dotted.0");
long dotted(long a, long b);
*/
import "C"

import (
	"fmt"

	"sonde/qemu/testdata/programs/mixed/asm"
)

//go:noinline
func compiled(a, b int) int { return a - b }

func main() {
	sum := 0
	for i := range 3 {
		sum += asm.Add(i, 100) + compiled(i, 200) + int(C.dotted(C.long(i), 300))
	}
	fmt.Println(sum)
}
