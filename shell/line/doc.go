// Package line reads lines from a terminal on a serial port: with the keys of
// emacs, a history, and completion.
//
// Bytes come in one at a time. A decoder makes keys of them, as a state
// machine that never waits for what may not come: the next key ends a lone escape,
// or a sequence that is not known. The editor changes the line
// and draws what differs. Typing at the end of the line only echoes, so that
// a log of the terminal reads like what was typed.
//
// The terminal is one of the ANSI kind, of a width that has to be told; the
// driver turns "\n" into "\r\n". Each character is taken to be one column.
package line
