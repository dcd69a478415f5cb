// Package kbpf has the maps of eBPF programs.
//
// Their memory is outside the Go heap and has no pointers (arena.go). Programs reach values through
// pointers; goroutines copy. Hashes are open tables, probed for 64 places at most (hash_trap.go). A
// per-CPU map is a table for each CPU, which only this CPU's programs change.
//
// Rejected: keys that all tables of a per-CPU hash share, as in Linux: to add one would concern all CPUs.
package kbpf
