// Package reach reads the calls in the linked image and determines what can be reached from
// where. It answers three questions:
//
//   - What may not be probed? Everything that a hit may run before it knows whether it is nested: what
//     direct calls reach from where the CPU enters a trap ([Graph.Blacklist]). The reason given is the
//     path of calls.
//   - May a handler change X0-X14? Then they are saved before it is called ([Graph.KeepsSSE]).
//   - Does code that runs in a trap reach what does not work there: the allocator, locks, maps, channels
//     ([Graph.Breaches])?
//
// A [Graph] reads each function when it is first needed, and once for all three. It sees
// direct calls and jumps. The code does not show where a call through a register or memory
// leads; where that matters, rules.go lists the targets by name, and tests over the linked
// image fail if trap code has an indirect call that is not in that list.
//
// # The lists
//
// rules.go has every name that cannot be computed. A name is a symbol of the image, or the
// beginning of several followed by "*". [Graph.Check] finds the names that match nothing;
// tests over the linked image fail on them, and the kernel reports them when it first uses
// the lists.
//
// # What was rejected
//
//   - Walking on the host and putting the result into the image: the walk takes some milliseconds and
//     is done once, at the first probe.
//   - Reading all functions at once: most are never needed.
//   - Assuming that an indirect call may reach every function whose address is in data: then everything
//     reaches everything.
package reach
