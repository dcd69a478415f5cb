// Package layers holds the rule that says which package may import which,
// layers.txt, and the test that checks every file against it, whatever its build tags.
//
// The model is the Go tree's own src/go/build/deps_test.go. What a layer may
// import is written out instead of following from its place, so that one reads
// it off a line, and so that the tools on the host, which know next to nothing
// of the kernel, fit the same table.
package layers
