// Package layers has the rule that says which package may import which, layers.txt, and the
// test that checks every file against it, whatever its build tags.
//
// The model is the Go tree's own src/go/build/deps_test.go. What a layer may import is
// written out instead of following from its position, so that each line can be read alone,
// and so that the tools on the host, which use almost nothing of the kernel, fit the same
// table.
package layers
