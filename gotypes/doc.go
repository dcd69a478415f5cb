// Package gotypes knows what the functions of a Go image take and return, and where the
// arguments are: Assign says which registers carry the arguments and the results, from their types.
//
// # The table
//
// The build collects what DWARF says of functions and types (package internal/image), and
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
// go test ./internal/image -run TestTypes -v prints the size, and compares each function and
// type of the test image with DWARF.
//
// # Decisions
//
// The table points to what the runtime has. Half of the types have a description by the runtime in
// the image, with the names of their fields (Go's abi.Type). The build reads each as the kernel will,
// compares it with DWARF, and leaves out of the table what is equal, with all that it is made of. That
// was a quarter of the table. If a Go version changes that description, nothing is equal, and the
// table is merely larger.
//
// The table is numbers and names, by flate. It has 84,513 bytes, and the kernel reads it in 81
// million instructions, once, at the first request for a type. Numbers and letters are apart, which
// saves a tenth. Rejected, each measured on the same kernel: an arithmetic coder that is told what
// each number depends on (59,300 bytes, but 443 lines more and 516 million instructions, so the first
// script that used an argument took sixty times as long as the second); numbers by frequency, with a
// column for each kind (74,200 bytes for 40 lines); guessing a number from the one that came last in
// the same context (larger than without: it hides from flate what repeats); a mark for methods, whose
// first argument is known (2,000 bytes less, 25 lines, 10 million instructions); taking names from the
// runtime's field names (larger: numbers of names grow).
//
// BTF is written, not carried. It has 1 MB. The kernel writes it from the table when
// /sys/kernel/btf/vmlinux is first opened.
//
// The table has the arguments of inlined copies where DWARF knows them. Their places differ from
// copy to copy, and do not follow from the types. Of the functions that are called as well as inlined,
// 213 have copies with an argument in a known place at their lowest address, where 99 % of copies are
// entered: 2,313 of 5,857 arguments, of these 412 on the stack. That takes 1.9 KB, which are read at
// the first request for them: read with the rest, they took 30 million instructions. A program that
// reads such an argument searches for the place that is hit. Where an argument is not known, it ends
// at once, and bt says how many copies have it: of sync.(*Mutex).Lock 13 of 605, of Unlock 576
// of 607. Rejected: a program for each place in which copies have it, which loses "N of M copies" and
// takes a compilation for each; the 3,794 functions that have no code of their own, whose arguments
// would take 10 KB and whose types are not in the table.
package gotypes
