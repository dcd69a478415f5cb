// Package machine runs the kernel in QEMU and reports how it ended.
//
// Run boots an image with a script and collects the script's output and the console; Start
// returns a Session for typing; Interact connects the machine to a person at a terminal.
//
// A machine under program control has four streams:
//
//	console          COM1, to QEMU's stdin and stdout
//	script output    I/O port 0xe9 (isa-debugcon), to a pipe
//	end of the run   I/O port 0xf4 (isa-debug-exit), QEMU's exit code
//	control          QMP on a socket, tells power-off from reset
//
// Package sonde/internal/exitcode has the numbers. QEMU is a child process that gets
// SIGKILL when this process dies for any reason.
//
// Rejected: output to temporary files (nothing to see while it runs, and files to delete
// after a crash); parsing the console for the script's output (log lines are mixed in).
package machine
