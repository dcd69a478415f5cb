// Package shell is the command line of the kernel, on a serial port or with a
// script.
//
// The language is the small part of sh that is used at a prompt: words with
// single and double quotes and backslashes, comments, ";", "&&", "||", pipes,
// "<", ">" and ">>", and "$?". There are no variables and no patterns, so "*",
// "(" and "$" stand for themselves: vfs.(*File).Read and $stack need no quotes.
//
// Each command is a Command in a file cmd_NAME.go. Commands of a pipe run one
// after the other; the output of each is kept for the next. The shell hands over what
// a command writes to a file in one piece, because control files need that.
//
// The machine is known through the functions of a Machine; one that is
// missing makes its commands fail, not the shell.
package shell
