// Package targets has the functions that the tests probe: Go functions with every form of
// prologue that the compiler makes (funcs.go), and a function per shape of machine
// instruction (the .s files, each with its table in the Go file of the same name).
//
// A Shape is bare code: it is called with every register loaded from a State, and its
// registers are stored to one afterwards. So "the probe changed nothing" is one comparison
// of all general registers, flags, X0-X15 and Mem. In addition each shape leaves a value in
// AX that proves that its instructions did their work, because two equal States could be
// equally wrong.
//
// All but the privileged shapes also run on the host, where targets_test.go checks what
// they claim.
package targets
