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
// A serial port sends 14 bytes at a look at its status, not 16. Two other writers may have seen the FIFO empty at the
// same moment: the log cannot take a lock.
//
// Idle scripts look for records ten times a second. Under TCG that takes 1.7 % of a CPU, and each 10 ms took 4.5 %
// (QEMU's time in /proc/PID/stat, over 12 s). A wake-up from the handler was rejected: probed code may hold what the
// wake-up needs.
package serve
