// Package program runs eBPF programs as handlers of probes.
//
//	text ── Assemble ──▶ program and maps ── Load: verify, compile ──▶ Prog ── Attach ──▶ probes
//
// A Prog can only be made through the verifier.
//
// # Programs
//
// A program is compiled to machine code that is the handler itself: the func value that a probe calls
// points to it. It runs where the trap arrives, on the CPU's trap stack, and is not preempted. Where a
// handler is called in a goroutine, the program is entered as from a trap (trap.Entering).
//
// A program that is hit while another one runs on the same CPU does not run, and is counted (Prog,
// Recursion). So per-CPU maps need no atomic operations. A word per CPU decides
// (trap.OffsetRunning): 0, or where on the stack a program runs, or 1 if it is fused and has looked for a key. A program that uses no maps and calls no
// helpers has nothing to protect, and does not look at the word.
//
// A program stays until its owner has closed it and no file in /sys/fs/bpf stands for it or for one of its
// links (pin.go). To meter, throttle or hold it, the word that its func value points to is changed
// (meter.go).
//
// Rejected: metering all programs. It takes five instructions at each hit, as much as an empty program.
//
// # Maps
//
// Their memory is outside the Go heap and has no pointers (arena.go). Programs reach values through
// pointers; goroutines copy. Hashes are open tables, probed for 64 places at most (hash_trap.go); fused programs look at four (fuse.go, bpf/jit/fuse_hash.go). A
// per-CPU map is a table for each CPU, which only this CPU's programs change. A hash that evicts removes the
// entry that was used least recently, of those near where a new one is to go (lru_trap.go). Queues
// (queue_trap.go) and stack traces (stack_trap.go) are places in a row. A map of maps has the addresses of
// maps, which it keeps (inner.go). A program array has the code of programs, which it keeps (tail.go).
//
// # Tail calls
//
// A program continues as another one, in its place on the stack, by a jump; up to 33 follow the first. The
// verifier knows how many instructions each takes, but not which will follow. So each jump passes on what is
// left of the first one's limit: a program that could take more is not entered, and the array counts it as
// lost. A chain is one hit of the first program; the CPU's word (Programs, above) stays as it is until the last
// one's exit.
//
// Rejected: refusing programs of which 34 could take more than one hit may. That would refuse every program
// with an update of a hash.
//
// Rejected: keys that all tables of a per-CPU hash share, as in Linux: adding one would involve all CPUs.
//
// # Helpers
//
// They are Go functions that programs' code calls (helpers_trap.go), or code that is put into the program
// (inline_amd64.go; inline_ring_amd64.go writes records and histograms). Programs are not in the image, so the
// walks over it do not see these calls: kprobes/reach recognizes helpers by the beginning of their names.
package program
