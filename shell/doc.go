// Package shell is the kernel's command line, on a serial port or with a script.
//
// The language is the small part of sh that is used at a prompt: words with single and double
// quotes and backslashes, comments, ";", "&&", "||", "&", pipes, "<", ">", ">>" and their forms for
// errors, "$?" and "$!". There are no variables and no patterns, so "*", "(" and "$" are ordinary
// characters: vfs.(*File).Read and $stack need no quotes.
//
// Each command is a Command in a file cmd_NAME.go. In a pipe without programs, the commands run one
// after the other, and the output of each is kept for the next. A command's output to a file is
// written in one piece, because control files need that.
//
// The machine is used through the functions of a Machine; commands that need a missing one fail,
// but the shell works.
package shell
