// Package lang compiles the language of bpftrace to eBPF programs.
//
//	text ── Parse ──▶ Script ── Compile: types, then code ──▶ Unit: a program for each attach point,
//	                                                      the maps, and what records in the ring mean
//
// The package knows neither which functions there are nor where arguments lie: it asks a [Resolver] for
// the [Target] of each attach point. It runs on the host as in the kernel, and has no state.
//
// # Scripts
//
// Each probe becomes a program for each of its attach points: an argument is in another register there, a
// string in another address space. A pattern is one attach point.
//
// # What is refused
//
// Everything is checked before anything is attached, and the first mistake is an [Error], with its place
// in the text. What bpftrace has and this package does not is refused by name: imports, structures from
// headers, and functions that concern name spaces or the network.
//
// # Programs
//
// An expression leaves its number in R0; what is longer is written where it is wanted: on the stack, or
// in scratch memory, which is the value of a per-CPU array, since 512 bytes of stack are not enough for
// strings. R6 is the context and R9 the scratch memory, everything else lives in one statement at most.
// The code is text for [bpf.Assemble]; bt -d prints this text.
//
// Keys and values of maps, and the records, are made of parts that begin at multiples of 8 bytes.
// Strings end with zeroes to their full size, so that words can be compared.
//
// # Decisions
//
// A program is text. The compiler of bt writes lines with labels for the assembler of bpf/,
// not instructions. bt -d prints these lines. Each line belongs to a place in the script, so the
// verifier's refusals are shown there.
//
// The verifier looks at no clock. Its walk is limited by what it does: instructions, states, and
// values that it compares. A limit of time would refuse on a busy host what it accepts on another.
//
// BEGIN, END and intervals may take longer. What is called at hits executes at most 65,536
// instructions, helpers by their worst case, so that a hit cannot take long. A loop over a map of
// 4,096 keys executes more, and so does a loop over a hundred values that go into a map. Programs at
// these points run once, or a few times in a second, and their limit is 1,024 times as high; what they
// really execute is a small part of the worst case, in which each search of a map looks at 64 places.
// The same loop at a hit is refused.
//
// A loop over a map is a function. The verifier walks its body once, whatever the map's size, and
// a helper calls it. The variables stay on the program's stack, whose address the function gets. The
// context does not, since the verifier keeps no pointers on a stack that functions may change any
// number of times. So arguments are read before such a loop.
//
// All numbers have 8 bytes. Types have sizes, as sizeof shows, but values are calculated with 64
// bits, and only casts cut them. So no sum wraps because its first value was small.
//
// Maps without keys that sum are arrays. Their value is always there, so a program needs no search
// and no second way for the first time; a value of which all is 0 was never set, and is not printed at
// the end.
//
// A bucket is part of the key. A histogram is a map of counts whose keys end with the number of
// the bucket. An array of 65 buckets as the value would take 520 bytes for each key and CPU, of which
// few are used.
//
// What a map keeps for each CPU is deleted by the reader. Each CPU's table has keys of its own,
// and a program reaches only its CPU's. So delete(@c[key]) on a count sends a record, and the reader
// deletes the key in all tables, some milliseconds later.
//
// Strings lie in a per-CPU array. The stack has 512 bytes for all of a program. A program is not
// interrupted by another one on its CPU, so one array serves all programs of a script.
//
// BEGIN and END are not probes. Their programs run as BPF_PROG_TEST_RUN runs one. We tried a probe
// on a function of the runner's own: it cost 23 ms if it was the first since the boot, and scripts
// that began at the same time hit each other's probe.
//
// A script has no addresses of its variables. They lie on the stack of a program, or in the array
// of its CPU, and the next hit writes over both. An address in a map or a record would point to
// something else by then. So &$x is refused, by name.
//
// Exports have no flows. Chrome's and Perfetto's arrows join what happens in different threads.
// Here, what the kernel does for a system call runs in the program's thread, down to the device, so it
// is drawn inside the call.
package lang
