// Package hostile gives every call that registers something, every control file and every
// parameter inputs that make no sense, from all CPUs at once. Each must be refused with a
// reason or be right, and nothing may be left of it.
//
// The inputs come from a seed, which is printed: sysctl -w debug.ktest-seed=N repeats
// them. What the CPUs do at the same time is chance.
package hostile
