// Package verify tells whether an eBPF program is safe to run at a probe: whether it ends soon, on
// every path, and touches only what it may. docs/verifier.md says what is true of a program that is accepted,
// sentence by sentence.
//
// [Check] executes the program on what is known of each register and each byte of stack instead of
// on numbers (state.go). At a branch whose outcome is not known it follows both sides, with what
// each of them tells of the operands (branch.go). Each loop is walked as often as it runs, so a
// loop needs a bound that can be seen.
//
// # Pruning
//
// At the targets of jumps, a state is kept. A path that comes there again in a state that one of
// them covers need not be followed (prune.go). Two rules make this sound:
//
//   - Only a state from which all paths were walked to their ends is compared with. A state that
//     is still open proves nothing; to meet it again, unchanged, is an endless loop.
//   - What was never read later on is not compared, and of a number that no decision has rested on,
//     only that it is one. Each value carries an [origin], which notes how it was used and what it
//     was computed from, back to the states that were kept on the way. So whatever decides is marked:
//     what a branch, a bound or a count rests on, be it an operand or a copy of one.
//
// # Worst case
//
// Each kept state knows how many instructions the longest path from it executes; a path that is
// pruned adds this to its own (node in walk.go). The program's number is that of its first state.
//
// For a program that makes a tail call, the number is that of the path on which it does not. When the program
// runs, the rest of its limit is a credit, from which each further program takes its own number.
//
// # Functions
//
// A function of the program is walked anew at each call, in a frame of its own. A function that a
// helper calls repeatedly is walked once, as from any of its calls: before that, what it can reach
// on the stack loses everything but that it is initialized. Its worst case counts as often as it
// can be called.
//
// Source: RFC 9669; Linux, Documentation/bpf/verifier.rst, for the kinds of values and the log.
package verify
