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
package lang
