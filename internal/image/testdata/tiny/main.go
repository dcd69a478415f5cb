// Command tiny is linked as the kernel is, for the tests of package image.
package main

import "fmt"

// symtab is filled in by image.Finish; not zero, so that it is in .data.
var symtab = struct{ addr, size uint64 }{1, 0}

var (
	inBss [2]uint64
	small = uint64(1)
)

// entries is the variable for the second table.
var entries = [2]uint64{1, 0}

func main() {
	inBss[0]++
	fmt.Printf("table at %#x, %d bytes, %d %d %d\n", symtab.addr, symtab.size, inBss, small, entries)
}
