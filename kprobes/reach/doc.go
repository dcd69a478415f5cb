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
//
// # Decisions
//
// The blacklist is computed. kprobes/reach walks the direct calls from where the CPU enters a
// trap, leaves out what is reached only to report something, and gives the path as the reason. Linux
// keeps such a list by hand. Some names remain in reach/rules.go: the entries, the targets of
// indirect calls, the thread shim. A test over the linked image fails if one of them matches no
// function.
//
// The build fails if trap code does what it must not do: make an indirect call that is not listed,
// or reach the allocator, a lock, a map, a channel, a write barrier or a panic. The error shows the
// path (internal/image/traps.go). Stack growth is also forbidden: the deepest path must fit in half
// of what a trap finds left of the stack (maxDepth in kprobes/reach/verify.go).
//
// The list is short. It has less than 3 % of the functions in the image with tests. Half of them
// are kprobes itself, a third handles traps, a tenth switches threads with a lock held that a
// handler's printk takes, and a few change code while CPUs stand still. Some more functions have no
// entry that can be executed elsewhere, or hold data. The functions that switch stacks, and those that
// write single bytes of code or call all CPUs, can be probed: tests probe each of their instructions.
// This registers a probe on each function, accounts for all that are refused, and prints the numbers:
//
//	go run ./qemu -test -c 'ktest control/everything_else_can_be_probed'
//
// A blacklisted function that survives a probe stays on the list. The proof run shows with which
// of them the machine crashes. With a handler that does nothing, most others survive. Some are on the
// list because of what an abandoned handler would leave in them, such as a lock of the thread
// shim. A run with only well-behaved handlers does not show that.
package reach
