// Package elf loads a program into an address space: ELF64 for x86-64, static,
// position-independent or dynamic, and scripts that name their interpreter.
//
// Files are not trusted. Each number is checked where it is read, before anything is
// mapped; errors say what is wrong and have the errno that Linux gives. A file may still
// change while it runs, at the program's own risk.
//
// The pages of a program are those of its file (backing.Store), so all processes that run
// it share them. Only what follows the file's part of a segment is written here: the rest
// of its last page is set to zero.
//
// Differences from Linux: segments that reach beyond their file, that disagree about a page
// they share, or that are out of order are refused, as is an entry point that no segment
// allows to execute. Linux maps these, and the program is killed by a signal. Addresses are
// not randomized, so that a course sees the same ones again.
package elf
