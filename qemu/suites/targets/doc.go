// Package targets is what the tests probe: Go functions of every form the
// compiler gives a prologue to (funcs.go), and a function per shape of machine
// instruction (the .s files, each with its table in the file of the same name).
//
// A Shape is bare code: it is called with every register loaded from a State
// and leaves every register in one. So "the probe changed nothing" is one
// comparison of all general registers, flags, X0-X15 and Mem. Beyond that each
// shape leaves in AX a value that proves its instructions did their work: two
// equal States could be equally wrong.
//
// All but the privileged shapes run on the host as well, where targets_test.go
// checks what they claim.
package targets
