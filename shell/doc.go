// Package shell is the kernel's command line, on a serial port or with a script.
//
// The language is that of POSIX shells, with much of bash's (docs/shell.md): mvdan.cc/sh/v3 parses it
// and expands words, and this package walks the tree (exec.go). Unlike in other shells, "(" may be
// part of a word, so vfs.(*File).Read needs no quotes.
//
// Each command is a Command in a file cmd_NAME.go. The parts of a pipeline run at the same time. A
// command's output to a file is written in one piece, because control files need that.
//
// The machine is used through the functions of a Machine; commands that need a missing one fail,
// but the shell works.
package shell
