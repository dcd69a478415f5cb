// Package mutants is a list of deliberate defects in the kernel, each with the test that
// must fail because of it. A test that has never failed shows little; the mutants test the
// tests.
//
// A mutant is one change in one declaration, which is named by its folder and its name, not by its
// file: a short text that is there exactly once is replaced by another. It is made in a copy of the tree ([Tree]), which is built and tested; the tree
// itself is not touched. The test is the cheapest that can notice: a test on the host, or a
// case of the kernel's own suites. A mutant is
//
//	killed     the test fails, or the machine crashes in it
//	survived   the test passes: the test, or the mutant, is useless
//	broken     the text is not there, the kernel does not build, the test does
//	           not begin or is skipped, or it fails without the mutant: nothing
//	           has been shown
//
// TestListFitsTheTree (seconds) finds mutants whose text or test is gone.
// TestMutantsDie runs those that the environment variable SONDE_MUTANTS names, by
// a list or the beginning of a name, separated by spaces; "all" is all of them:
//
//	SONDE_MUTANTS="memory signals" go test ./ktest/mutants -run TestMutantsDie -v -timeout 1h
//
// # What no test notices
//
// These defects are known and not in the list. The interrupt to all CPUs left out after a
// poke, or before a wait for handlers: QEMU executes what was written without it, and the
// order of changes keeps the lists that hits read safe. An instance kept by a return inside
// a handler: the entry is missed there, so there is none. A step and a hit reported by one
// #DB: QEMU makes two. A call that never returned and is still in front of others when one
// returns: the runtime drops the calls that a panic or the end of a goroutine leaves, so
// only the stacks of its scheduler have any.
//
// A mutant of boot/overlay would change nothing: the overlay is built into the launcher,
// which is built without mutants.
//
// # What was rejected
//
//   - Mutants made by a tool (each comparison inverted, each statement left out): thousands, of which
//     many change nothing that can be seen, and each costs a build and a boot.
//   - Defects built into a kernel and switched on when it runs: they would be on the path of each hit.
//   - "go build -overlay" instead of a copy: the kernel is built with an overlay of its own, which some
//     mutants change.
package mutants
