package insn

import (
	"slices"
	"strings"
)

// traitsOf derives the traits from objdump's output: text has prefixes and everything, op only the
// mnemonic.
func traitsOf(text, op, args string) (t Trait) {
	word := strings.TrimRight(op, "wlq")
	switch {
	case word == "enter", word == "ca", word == "push", word == "pushf": // CALL without its Ls
		t |= Push
	case strings.HasPrefix(op, "lcall"):
		t |= Push
	case word == "pop", word == "popf", word == "leave", word == "ret":
		t |= Pop
	}
	switch {
	case word == "pushf":
		t |= Pushf
	case word == "popf":
		t |= Popf
	case op == "cli":
		t |= Cli
	case op == "sti":
		t |= Sti | Shadow
	case op == "lss", op == "mov" && strings.HasSuffix(args, ",%ss"):
		t |= Shadow
	case isString(op):
		t |= String
		if strings.Contains(text, "rep") {
			t |= Rep
		}
	case waits[op]:
		t |= Wait
	case hypers[op]:
		t |= Hyper
	case op == "xbegin", op == "xabort", op == "xend", op == "xbeginw":
		t |= Tx
	}
	if isMachine(op, args) {
		t |= Machine
	}
	return t
}

var (
	waits  = words("hlt mwait monitor mwaitx monitorx umonitor umwait tpause")
	hypers = words("vmgexit vmcall vmfunc vmmcall vmxoff vmload vmsave stgi clgi skinit invlpga")
	writes = words("clts wrmsr wrmsrns rdmsrlist wrmsrlist lgdt lidt lmsw lldt ltr lkgs swapgs wrfsbase wrgsbase xsetbv lfs lgs")
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// isString reports MOVS and its kin by their AT&T names; MOVSD and CMPSD of SSE
// have other ones there.
func isString(op string) bool {
	if slices.Contains([]string{"stos", "lods", "scas"}, op) {
		return true
	}
	for _, p := range []string{"movs", "cmps", "ins", "outs"} {
		if s, ok := strings.CutPrefix(op, p); ok && slices.Contains([]string{"b", "w", "l", "q"}, s) {
			return true
		}
	}
	return false
}

// isMachine reports writes to state that a trap entry needs.
func isMachine(op, args string) bool {
	if writes[op] || writes[strings.TrimSuffix(op, "q")] {
		return true
	}
	to := args[strings.LastIndexByte(args, ',')+1:]
	switch {
	case op == "mov":
		return to == "%fs" || to == "%gs" || strings.HasPrefix(to, "%cr") || strings.HasPrefix(to, "%db")
	case strings.HasPrefix(op, "pop"):
		return to == "%fs" || to == "%gs"
	}
	return false
}
