// Package screen shows text on the framebuffer that the loader has set up: a console for
// boards without a serial line.
//
// It works from the first instructions of the kernel on, in any context. Text goes into a
// queue, and a writer that finds the screen free draws what is in it: a trap that
// interrupts the drawing leaves its text to the code that it has interrupted.
//
// The text is a grid of characters. Scrolling compares the grid with its previous contents
// and draws the differences, so that video memory, which is slow to read, is only written.
//
// Rejected: a lock (a trap could wait for the code that it has interrupted); scrolling by
// more than a line at a time (faster, but the reader loses the line).
//
// Source of the escape sequences: ECMA-48, "Control functions".
package screen
