// Package tools has small commands that scripts need, that the kernel's shell does not have (package
// coreutils), and that u-root does not provide as libraries. They implement a part of POSIX; an option
// that they lack is an error.
package tools

import "sonde/shell/coreutils"

// Commands are all of them.
var Commands = []*coreutils.Command{
	{Name: "env", Usage: "[name=value...] [command...]", Help: "run a command with more variables, or print all variables", Run: env},
	gzipCommand("gunzip"), gzipCommand("gzip"), gzipCommand("zcat"),
	{Name: "ln", Usage: "[-fs] file name", Help: "give a file another name (-f: in place of another file, -s: as a symbolic link)", Options: "fs", Run: ln},
	{Name: "seq", Usage: "[first [step]] last", Help: "print numbers", Run: seq},
	{Name: "sort", Usage: "[-nru] [file...]", Help: "sort lines (-n: by the numbers that they begin with, -r: backwards, -u: equal lines once)", Options: "nru", Run: sort},
	{Name: "tee", Usage: "[-a] [file...]", Help: "copy the input to the output and to files (-a: to their ends)", Options: "a", Run: tee},
	{Name: "uniq", Usage: "[-cd] [file...]", Help: "print equal lines that follow each other once (-c: with their number, -d: only those)", Options: "cd", Run: uniq},
}
