// Package serve shows a kernel in a browser: its source, what a probe on each line would be, and what the probes see.
// It runs on the host, and has the kernel run commands (Runner): each of them can be typed at the prompt.
//
// # Decisions
//
// The kernel gets no network for its page. The launcher serves it and sends commands over a serial port: the host has
// the source and a browser, and a board has a serial port before it has a network card. Sockets and a server in the
// kernel would parse strangers' bytes in ring 0.
//
// The page has the kernel run what one can type. There is no protocol of probes and pictures, only commands as words,
// and their output: 450 lines in the kernel, and each click shows its command. Words are not a line of the shell, so
// nothing that a page sends can be a redirection. Commands have no input, since nothing on the page would give any.
//
// Scripts leave out what the page causes by the names of threads (comm): no message says a goroutine's number. A script of
// the prompt's is left out with those of pages.
//
// A serial port sends 14 bytes at a look at its status, not 16. Two other writers may have seen the FIFO empty at the
// same moment: the log cannot take a lock.
//
// A script that waits looks for records shortly before its interval ends, and then until they are there: a count of the
// page takes 0.4 % of a CPU under TCG. Looks each 100 ms took 1.4 %, each 10 ms 4.2 % (QEMU's time in /proc/PID/stat,
// less than 0.2 % of it without a script). A wake-up from the handler was rejected: probed code may hold what the wake-up
// needs.
package serve
