// Package hostile calls every registering function, control file and parameter with
// nonsensical inputs, from all CPUs at once. Each input must be refused with a reason or be
// valid, and leave nothing behind.
//
// The inputs are generated from a seed, which is printed: sysctl -w debug.ktest-seed=N
// repeats them. How the CPUs interleave is random.
package hostile
