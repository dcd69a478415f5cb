package program

import (
	"sonde/arch/amd64/goabi"
	"sonde/kallsyms/pcln"
)

// What Go's funcdata says about arguments.
//
// Source: the Go tree, src/internal/abi/symtab.go.
const (
	argMaps = 0 // which arguments are pointers
	argInfo = 5 // how to print them
)

// Convention returns where the function that addr is in finds its arguments. Go's compiler passes them in
// registers. Of assembly, the assembler asks for tables of arguments on the stack if it is ABI0, and never
// if it is ABIInternal; without either, functions that take nothing, or are not called as functions, are
// not told apart.
//
// Context: any.
// Source: the Go tree, src/cmd/internal/obj/plist.go, Flushplist.
func (f *File) Convention(addr uint64) goabi.Convention {
	fn, flags, ok := f.goFunc(addr)
	switch {
	case !ok:
		return goabi.C
	case flags&pcln.Assembly == 0:
		return goabi.Regs
	}
	if _, pointers := fn.Data(argMaps); pointers || fn.Tables() > argInfo {
		return goabi.Stack
	}
	if args, known := fn.ArgBytes(); known && args > 0 {
		return goabi.Regs
	}
	return goabi.Asm
}
