// Package gotypes knows what the functions of a Go image take and return, and where the
// arguments are: Assign says which registers carry the arguments and the results, from their types.
//
// # The table
//
// The build collects what DWARF says of functions, variables and types (package internal/image), and
// packs it with Encode; the kernel unpacks it with Load. Two things make it small:
//
//   - The image has the runtime's own descriptions of half the types. Where such a description says
//     what DWARF says, the table has its offset only (inside.go, memory.go).
//   - Sizes and offsets are not stored: they follow from the fields (layout.go).
//
// What is left, numbers and names (format.go, walk.go), is compressed by flate (numbers.go).
//
// For inlined copies, it has the places of the arguments, as far as DWARF has them (spot.go).
//
// go test ./internal/image -run TestTypes -v prints the size, and compares each function, variable and
// type of the test image with DWARF.
package gotypes
