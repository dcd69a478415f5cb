// Package explain draws a place in the code with everything that probes do there: which
// handlers are called and how, what a jump would replace, what the detour looks like, and
// every reason why there can be none.
//
//	p := &explain.Place{Description: d, Fn: fn}
//	p.Judge()
//	p.WriteTo(w)
//
// A Place holds facts, and the text is made from them; only kernel_tamago.go knows where
// they come from. So the drawings are tested on the host, against golden files.
//
// x/arch/x86/x86asm prints the instructions. Package insn decides where they begin; if
// x86asm finds another length, or no instruction, the text is "?".
//
// The drawings are plain ASCII, 80 columns wide, for any terminal.
package explain
