package insn

import "strings"

func firstWord(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	return s
}

// mnemonic splits off the prefixes that objdump prints as words.
func mnemonic(text string) (op, args string) {
	args = strings.TrimSpace(text)
	for {
		op, args, _ = strings.Cut(args, " ")
		args = strings.TrimSpace(args)
		op, _, _ = strings.Cut(op, ",") // jne,pn
		switch {
		case strings.HasPrefix(op, "rex"):
		case op == "rep", op == "repz", op == "repnz", op == "lock", op == "bnd", op == "notrack", op == "data16", op == "addr32":
		case len(op) == 2 && op[1] == 's' && strings.IndexByte("cdefgs", op[0]) >= 0:
		default:
			return op, args
		}
		if args == "" {
			return op, args
		}
	}
}

// flowOf derives the kind of control flow from an AT&T mnemonic.
func flowOf(op, args string) Flow {
	star := strings.HasPrefix(args, "*")
	switch strings.TrimRight(op, "wq") {
	case "jmp":
		if star {
			return JmpInd
		}
		return Jmp
	case "call":
		if star {
			return CallInd
		}
		return Call
	case "ljmp":
		return FarJmp
	case "lcall":
		return FarCall
	case "ret":
		return Ret
	case "lret":
		return FarRet
	case "iret", "uiret":
		return Iret
	case "int3":
		return Int3
	case "int", "int1", "icebp":
		return Int
	case "loop", "loope", "loopne", "loopl", "loopel", "loopnel", "jrcxz", "jecxz":
		return Loop
	case "syscall":
		return Syscall
	case "sysret", "sysretl":
		return Sysret
	case "sysenter":
		return Sysenter
	case "sysexit", "sysexitl":
		return Sysexit
	case "hlt":
		return Hlt
	case "ud0", "ud1", "ud2":
		return Ud
	case "xbegin":
		return Xbegin
	case "xabort", "vmlaunch", "vmresume", "vmrun", "enclu", "encls", "enclv", "getsec", "rsm":
		return Other
	}
	if strings.HasPrefix(op, "j") {
		return Jcc
	}
	return Next
}
