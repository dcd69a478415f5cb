// Package mutants is a list of deliberate defects in the kernel, each with the test
// that has to fail when it is there. A test that never failed shows little: this is
// where the tests are tested.
//
// A mutant is one change of one file: a text that is there exactly once becomes
// another one. It is made in a copy of the tree ([Tree]), which is built and tested
// there; the tree itself is not touched. The test is one of the host's or a case of
// the kernel's own, the cheapest that can notice. A mutant is
//
//	killed     the test fails, or the machine ends in it
//	survived   the test passes: it, or the mutant, is worth nothing
//	broken     the text is not there, the kernel does not build, the test does
//	           not begin or is skipped, or it fails without the mutant: nothing has
//	           been shown
//
// TestListFitsTheTree (seconds) finds mutants whose text or test is gone.
// TestMutantsDie runs those that the environment variable SONDE_MUTANTS names, by
// a list or the beginning of a name, separated by spaces; "all" is all of them:
//
//	SONDE_MUTANTS="memory signals" go test ./qemu/prove/mutants -run TestMutantsDie -v -timeout 1h
//
// # What no test notices
//
// Known, and not in the list: an interrupt to all CPUs left out behind a poke or in front of
// a wait for handlers (QEMU executes what was written without it, and the lists that hits
// read are safe by their order); an instance kept by a return inside a handler (the entry is
// missed there, so there is none); a step and a hit told of by one #DB (QEMU makes two); a
// call that never returned and is still in front of others when one returns (the runtime gives
// up those that a panic or the end of a goroutine leaves, so only the stacks of its scheduler
// have any).
//
// A mutant of boot/overlay would change nothing: the launcher that builds the kernel has
// the overlay in itself, and is built without mutants.
//
// # What was rejected
//
//   - Mutants that a tool makes (each comparison turned, each statement left out):
//     thousands, of which many change nothing that can be seen, and each costs a build
//     and a boot.
//   - Defects that a kernel has built in and that are switched on when it runs: they
//     would be on the path of each hit.
//   - "go build -overlay" in place of a copy: the kernel is built with an overlay of its
//     own, which some mutants change.
package mutants
