// Package pcln reads what the Go runtime knows of a linked image's code: its pclntab, which is in
// memory anyway. It has for each instruction the line that it belongs to, and the copies of other
// functions that it is in, because the compiler has put them in place of calls.
//
// The runtime asks which line an address has. This package also answers the reverse, by a walk
// through all functions: all code of a line (Table.Line), and all copies of a function
// (Table.Copies). Stored, the answers would take more than the pclntab does.
//
// The layout is the one that the runtime has in symtab.go (pcHeader, pcvalue), runtime2.go (_func)
// and symtabinl.go (inlinedCall), for 64-bit machines. All numbers are little-endian:
//
//	header   magic uint32; 0, 0, minLC, ptrSize uint8; nfunc, nfiles, 0, and the offsets of
//	         names, units, files, steps and functions, uint64
//	units    for each compile unit: offsets of its files' names, uint32
//	steps    tables of values by address: pairs of a difference of the value (zigzag) and one of
//	         the address, as varints; a difference of 0 ends a table
//	functions nfunc times: entry, offset of its record from here uint32; the end of the last
//	record   entry, name, args, deferreturn, steps of SP, files and lines, npcdata, unit,
//	         first line uint32; id, flag, 0, nfuncdata uint8; pcdata, funcdata uint32
//	inlined  for each copy: id uint8, 0, 0, 0; name, address in the caller, first line uint32
package pcln
