// Package line reads lines from a terminal on a serial port, with the keys of emacs, a history, and
// completion.
//
// A decoder turns single bytes into keys. It is a state machine that never waits for bytes that may
// not come: the next key ends a lone escape or an unknown sequence. The editor changes the line and
// draws only the difference. Typing at the end of the line only echoes, so that a log of the
// terminal shows what was typed.
//
// The terminal must be of the ANSI kind, and its width must be given; the driver turns "\n" into
// "\r\n". Each character is assumed to be one column wide.
package line
