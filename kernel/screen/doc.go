// Package screen shows text on the framebuffer that the loader has left: a console for
// boards without a serial line.
//
// It works from the first instructions of the kernel on, in any context. What is written
// goes into a queue, and whoever finds the screen free draws what is in there: a trap
// that interrupts the drawing leaves its text to what it has interrupted.
//
// The text is a grid of characters. Scrolling compares the grid with itself and draws
// what differs, so that video memory, which is slow to read, is written only.
//
// Rejected: a lock (a trap could wait for what it has interrupted), and scrolling by
// more than a line at a time (faster, but the eye loses the line it reads).
//
// Source of the escape sequences: ECMA-48, "Control functions".
package screen
