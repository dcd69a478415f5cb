package program

import (
	"encoding/binary"

	"sonde/arch/amd64/goabi"
)

// What a _func of Go's pclntab says about arguments: how many bytes, and which tables of the function
// follow, after its npcdata words.
//
// Source: the Go tree, src/internal/abi/symtab.go; src/runtime/symtab.go, funcdata.
const (
	fnArgs     = 8
	fnPcdata   = 28
	fnTables   = 43
	argMaps    = 0 // the table that says which arguments are pointers
	argInfo    = 5 // the one that says how to print them
	unknownLen = 1 << 31
)

// Convention returns where the function that addr is in finds its arguments. Go's compiler passes them in
// registers. Of assembly, the assembler asks for tables of arguments on the stack if it is ABI0, and never
// if it is ABIInternal; without either, functions that take nothing, or are not called as functions, are
// not told apart.
//
// Context: any.
// Source: the Go tree, src/cmd/internal/obj/plist.go, Flushplist.
func (f *File) Convention(addr uint64) goabi.Convention {
	g := f.gotab
	if g == nil {
		return goabi.C
	}
	n := g.search(addr)
	if n < 0 {
		return goabi.C
	}
	_, end, fn := g.fn(n)
	switch {
	case fn == nil || addr >= end:
		return goabi.C
	case fn[fnFlag]&asmFlag == 0:
		return goabi.Regs
	case fn[fnTables] > argInfo || g.table(n, fn, argMaps):
		return goabi.Stack
	}
	if args := binary.LittleEndian.Uint32(fn[fnArgs:]); args > 0 && args < unknownLen {
		return goabi.Regs
	}
	return goabi.Asm
}

// table reports whether function n, whose _func is fn, has a table of that number.
func (g *gotab) table(n int, fn []byte, number uint8) bool {
	if number >= fn[fnTables] {
		return false
	}
	at := uint64(binary.LittleEndian.Uint32(g.pcln[8*n+4:])) + fnSize + 4*(uint64(binary.LittleEndian.Uint32(fn[fnPcdata:]))+uint64(number))
	return at+4 <= uint64(len(g.pcln)) && binary.LittleEndian.Uint32(g.pcln[at:]) != ^uint32(0)
}
