// Package reach reads the calls in the linked image and answers what can be
// reached from where. Three questions are asked of it:
//
//   - What may not be probed? All that a hit may run before it is known to be one
//     inside another: what direct calls reach from where the CPU enters a trap
//     ([Graph.Blacklist]). The path of calls is given as the reason.
//   - May a handler change X0-X14? Then they are saved before it is called
//     ([Graph.KeepsSSE]).
//   - Does code that runs in a trap reach what does not work there: the
//     allocator, locks, maps, channels ([Graph.Breaches])?
//
// A [Graph] reads each function when it is first asked for, and once for all
// three. It sees direct calls and jumps. The code does not show what a call through a
// register or memory may lead to; where it matters, rules.go says so
// by name, and tests over the linked image fail when trap code has an indirect
// call that is not in that list.
//
// # The lists
//
// rules.go holds every name that cannot be computed. A name is a symbol of the
// image, or the beginning of some with "*" behind it. [Graph.Check] finds the
// names that fit nothing; tests over the linked image fail on them, and the
// kernel says so when it uses the lists for the first time.
//
// # What was rejected
//
//   - Walking on the host and carrying the result in the image: the walk takes
//     some milliseconds and is done once, at the first probe.
//   - Reading all functions at once: most are never asked for.
//   - Taking every address of code in data for the target of every indirect call:
//     then everything reaches everything.
package reach
