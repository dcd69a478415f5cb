package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// translate turns the assembly of the conformance suite ("mov32 %r0, 0") into the notation of
// package bpf. A jump to "exit" leads to the first exit, unless there is such a label.
func translate(source string) (string, error) {
	var b strings.Builder
	hasExit := strings.Contains(source, "exit:")
	for i, line := range strings.Split(source, "\n") {
		line, _, _ = strings.Cut(line, "#")
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "" || strings.HasSuffix(name, ":"):
			b.WriteString(name + "\n")
			continue
		case name == "exit" && !hasExit:
			hasExit = true
			b.WriteString("exit: ")
		}
		var operands []string
		for _, o := range strings.Split(rest, ",") {
			operands = append(operands, strings.TrimSpace(o))
		}
		text, err := statement(name, operands)
		if err != nil {
			return "", fmt.Errorf("line %d, %q: %w", i+1, line, err)
		}
		b.WriteString(text + "\n")
	}
	return b.String(), nil
}

var signs = map[string]string{
	"add": "+=", "sub": "-=", "mul": "*=", "div": "/=", "sdiv": "s/=", "mod": "%=", "smod": "s%=",
	"or": "|=", "and": "&=", "xor": "^=", "lsh": "<<=", "rsh": ">>=", "arsh": "s>>=", "mov": "=",
	"jeq": "==", "jne": "!=", "jgt": ">", "jge": ">=", "jlt": "<", "jle": "<=", "jset": "&",
	"jsgt": "s>", "jsge": "s>=", "jslt": "s<", "jsle": "s<=",
}

var suffixes = map[string]string{"b": "8", "h": "16", "w": "32", "dw": "64"}

// statement translates one instruction.
func statement(name string, o []string) (string, error) {
	word, half := strings.CutSuffix(name, "32")
	switch {
	case name == "exit":
		return "exit", nil
	case name == "call":
		return "call " + strings.TrimSpace(strings.TrimPrefix(o[0], "local ")), nil
	case name == "ja":
		return "goto " + o[0], nil
	case name == "ja32":
		return "gotol " + o[0], nil
	case name == "lddw":
		return operand(o[0], false) + " = " + o[1] + " ll", nil
	case name == "lock":
		return locked(o)
	case word == "neg":
		return operand(o[0], half) + " = -" + operand(o[0], half), nil
	case strings.HasPrefix(name, "ld"), strings.HasPrefix(name, "st"):
		return access(name, o)
	case strings.HasPrefix(name, "movsx"):
		return extended(name, o), nil
	case strings.HasPrefix(name, "be"), strings.HasPrefix(name, "le"), strings.HasPrefix(name, "bswap"):
		return operand(o[0], false) + " = " + name + " " + operand(o[0], false), nil
	case strings.HasPrefix(name, "swap"):
		return operand(o[0], false) + " = b" + name + " " + operand(o[0], false), nil
	case signs[word] != "" && name[0] == 'j':
		return fmt.Sprintf("if %s %s %s goto %s", operand(o[0], half), signs[word], operand(o[1], half), o[2]), nil
	case signs[word] != "":
		return fmt.Sprintf("%s %s %s", operand(o[0], half), signs[word], operand(o[1], half)), nil
	}
	return "", fmt.Errorf("unknown instruction %q", name)
}

// operand translates a register or an immediate, which the suite also writes unsigned.
func operand(s string, half bool) string {
	if r, ok := strings.CutPrefix(s, "%r"); ok {
		return map[bool]string{false: "r", true: "w"}[half] + r
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return fmt.Sprint(int32(n))
	}
	return s
}

// place translates "[%r1+2]".
func place(s string) string {
	s = strings.Trim(s, "[]")
	if !strings.ContainsAny(s, "+-") {
		s += "+0"
	}
	return "(" + strings.TrimPrefix(s, "%") + ")"
}

// access translates loads and stores: ldxsw, stxdw, stb.
func access(name string, o []string) (string, error) {
	for _, kind := range []string{"ldxs", "ldx", "stx", "st"} {
		suffix, ok := strings.CutPrefix(name, kind)
		switch bits := suffixes[suffix]; {
		case !ok || bits == "":
		case kind == "ldxs":
			return fmt.Sprintf("%s = *(s%s *)%s", operand(o[0], false), bits, place(o[1])), nil
		case kind == "ldx":
			return fmt.Sprintf("%s = *(u%s *)%s", operand(o[0], false), bits, place(o[1])), nil
		default:
			return fmt.Sprintf("*(u%s *)%s = %s", bits, place(o[0]), operand(o[1], false)), nil
		}
	}
	return "", fmt.Errorf("unknown access %q", name)
}

// extended translates movsx832: from 8 bits to 32.
func extended(name string, o []string) string {
	bits, half := strings.CutSuffix(strings.TrimPrefix(name, "movsx"), "32")
	if !half {
		bits = strings.TrimSuffix(bits, "64")
	}
	return fmt.Sprintf("%s = (s%s)%s", operand(o[0], half), bits, operand(o[1], half))
}

// locked translates "lock fetch add32 [%r10-8], %r1".
func locked(o []string) (string, error) {
	words := strings.Fields(o[0])
	at := place(words[len(words)-1])
	name, half := strings.CutSuffix(words[len(words)-2], "32")
	src, kind, width := operand(o[1], half), "u64", "_64"
	if half {
		kind, width = "u32", "32_32"
	}
	inner := strings.Trim(at, "()")
	switch {
	case name == "xchg":
		return fmt.Sprintf("%s = xchg%s(%s, %s)", src, width, inner, src), nil
	case name == "cmpxchg":
		r0 := operand("%r0", half)
		return fmt.Sprintf("%s = cmpxchg%s(%s, %s, %s)", r0, width, inner, r0, src), nil
	case words[0] == "fetch":
		return fmt.Sprintf("%s = atomic_fetch_%s((%s *)%s, %s)", src, name, kind, at, src), nil
	case signs[name] != "":
		return fmt.Sprintf("lock *(%s *)%s %s %s", kind, at, signs[name], src), nil
	}
	return "", fmt.Errorf("unknown atomic operation %q", name)
}
