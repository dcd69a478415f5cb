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
//
// # Decisions
//
// The shell runs in the kernel. Its commands are functions of the kernel: insmod, bt, glass
// and kwatch print what handlers put into rings, and an image without linux/ has a prompt, too.
// Rejected: a program that reaches the commands by files. The prompt would then make system calls of
// its own, which probes on vfs.Read or sys:write would count among those that people ask about; a
// kernel whose programs cannot run would have no prompt to find out why; and the image without
// programs would need a second shell.
//
// Programs get the shell's commands as programs. In /bin, each name of a command is a link to
// box, which writes the command to a file, and prints the answer. Any shell, and anything else that
// starts programs, finds them. The command gets only as much input as it reads: in
// while read x; do explain $x; done, the rest of the list stays with the loop. Rejected: to look
// the names up in /bin/sh when no program has them. Only that one shell would have the commands, and
// xargs would not.
//
// A library parses and expands; the tree is walked here. mvdan.cc/sh/v3 has the grammar and the
// expansion of words, three quarters of the language. Its interpreter is not used in the kernel, for
// four reasons. Its pipes and its input are files of the operating system, which the kernel's own code
// does not have. It has no jobs: no process groups, no terminal that is lent, no ^Z, and $! is a
// number of its own. It ignores errors of closing a file, but for a control file that error is the
// answer. And it does not bound what a script takes: x=$x$x in a loop, or a function that calls
// itself, would end a program, and here the kernel.
//
// A script cannot take all memory. The words of one command may expand to 512 KiB; an upper bound
// is calculated before they are expanded (bound in shell/words.go); variables and functions of a
// shell may take 1 MiB, scripts held as trees 256 KiB of text. Statements nest at most 2,000 deep, and
// at most 250 parts of pipelines and jobs run at once. Jobs that begin jobs until there are 250 are
// ended, with all that they have begun. Exceeding a limit is an error that says so, and the shell
// continues.
//
// /bin/sh is the library's interpreter, and another program. Programs expect a process there,
// with children, signals and system calls of its own, and people put probes on it. It has the same
// grammar and expansion, because it is the same library. It costs 800 KiB of the image. Rejected: a
// small program in its place that hands its text and descriptors to the shell in the kernel. Its
// children would not be its own, $$ and exec would refer to something else, and a probe on its
// write would count nothing.
//
// Built-in commands in jobs are goroutines; programs are a process group. Each statement at the
// prompt is a job, and so is each with & after it. The parts of a pipeline run at once, over the
// same pipes that programs get. A built-in command has no process number: after & the shell prints
// [1] alone, and $! is %1, which kill and wait take. Nothing can stop a goroutine from
// outside, so ^Z at a built-in command stops its output: it waits as soon as it prints. Its probes
// stay, and continue to count. The prompt continues with the variables from before the statement.
// Rejected: a process without memory for each built-in command. All code that looks at processes
// would have to know about such numbers.
//
// The end of a script ends its jobs. bash leaves them to init. Here the machine ends with the
// script, so they get SIGHUP and at most a second; the exit status is the script's. Announcements of
// jobs are for people, as in bash, and do not appear in a script's output.
//
// Small commands of our own beside u-root's. u-root has some fifteen commands as libraries. The
// rest, grep, head and sort among them, are programs, which cannot be imported. u-root itself rewrites
// their sources into one program during the build: a second build tool for commands of twenty lines
// each. user/tools has those that scripts need most, and a test compares scripts with the host's
// shell and commands. The thirteen that the prompt has as well are in shell/coreutils, once.
//
// grep takes basic regular expressions, in which (* is text. Go's names are full of dots and
// parentheses, which such patterns find as they are. POSIX would read (* as any number of
// parentheses, which are not what one searches for, and vfs.(*File).Read would not be found.
package shell
