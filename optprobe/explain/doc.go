// Package explain draws one place in the code with all that probes make of it:
// which handlers are called and how, what a jump would replace, what the detour looks
// like, and every reason why there can be none.
//
//	p := &explain.Place{Description: d, Fn: fn}
//	p.Judge()
//	p.WriteTo(w)
//
// A Place holds facts, from which the text is made; only kernel_tamago.go knows where
// they come from. So the drawings are tested on the host, against golden files.
//
// Instructions are printed by x/arch/x86/x86asm. Package insn decides
// where they begin; an instruction that x86asm finds shorter,
// longer or not at all is printed as "?".
//
// The drawings are plain ASCII, 80 columns wide, for any terminal.
package explain
