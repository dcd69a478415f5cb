package bpf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Assemble reads a program from text, in the notation of the package: an instruction per line,
// labels, comments.
//
// Errors: the number of the line, what was found there, and what was expected.
func Assemble(text string) ([]Insn, error) {
	a := assembler{labels: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		a.line, a.rest = i+1, scan(line)
		a.statement()
		if a.err != nil {
			return nil, a.err
		}
	}
	a.resolve()
	if a.err != nil {
		return nil, a.err
	}
	return a.insns, nil
}

// assembler reads the tokens of one line after the other. The first error is kept; after it
// nothing more is read or emitted, so that callers need not check each token.
type assembler struct {
	insns  []Insn
	labels map[string]int // pc of what stands after the label
	uses   []use
	line   int // from 1
	rest   []token
	err    error
}

// use is an instruction that names a label.
type use struct {
	pc, line int
	label    string
}

// statement reads one line.
func (a *assembler) statement() {
	if len(a.rest) >= 2 && a.rest[0].isName() && a.rest[1] == ":" {
		name := string(a.rest[0])
		a.rest = a.rest[2:]
		a.label(name)
	}
	if len(a.rest) == 0 {
		return
	}
	a.instruction()
	if len(a.rest) > 0 {
		a.fail("the end of the line")
	}
}

func (a *assembler) label(name string) {
	if _, twice := a.labels[name]; twice {
		a.errorf("the label %q is defined a second time", name)
		return
	}
	a.labels[name] = len(a.insns)
}

// resolve puts the distances to labels into the instructions that name them.
func (a *assembler) resolve() {
	for _, u := range a.uses {
		a.line = u.line
		to, ok := a.labels[u.label]
		if !ok {
			a.errorf("the label %q is not defined", u.label)
			return
		}
		in, distance := &a.insns[u.pc], to-(u.pc+1)
		switch short := in.Class() != LD && in.Operation() != Call && (in.Class() == JMP || in.Operation() != Ja); {
		case !short:
			in.Imm = int32(distance)
		case distance < math.MinInt16 || distance > math.MaxInt16:
			a.errorf("the label %q is %+d instructions away: expected %d to %+d; gotol reaches further",
				u.label, distance, math.MinInt16, math.MaxInt16)
			return
		default:
			in.Off = int16(distance)
		}
	}
}

func (a *assembler) errorf(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("line %d: %s", a.line, fmt.Sprintf(format, args...))
	}
	a.rest = nil
}

// fail reports that the next token is not what was expected.
func (a *assembler) fail(expected string) { a.failAt(1, expected) }

// failAt reports that the next n tokens are not what was expected.
func (a *assembler) failAt(n int, expected string) {
	found := "the end of the line"
	if len(a.rest) > 0 {
		found = ""
		for _, t := range a.rest[:min(n, len(a.rest))] {
			found += string(t)
		}
		found = strconv.Quote(found)
	}
	a.errorf("found %s, expected %s", found, expected)
}

func (a *assembler) emit(insns ...Insn) {
	if a.err == nil {
		a.insns = append(a.insns, insns...)
	}
}

// peek returns the next token, or "" at the end of the line and after an error.
func (a *assembler) peek() token {
	if len(a.rest) == 0 {
		return ""
	}
	return a.rest[0]
}

func (a *assembler) skip() { a.rest = a.rest[1:] }

// accept reads t if it is next.
func (a *assembler) accept(t token) bool {
	if a.peek() != t {
		return false
	}
	a.skip()
	return true
}

// expect reads each of the tokens.
func (a *assembler) expect(tokens ...token) {
	for _, t := range tokens {
		if !a.accept(t) {
			a.fail(strconv.Quote(string(t)))
			return
		}
	}
}

// oneOf reads one of the tokens and returns its index.
func (a *assembler) oneOf(what string, tokens []string) int {
	i := slices.Index(tokens, string(a.peek()))
	if i < 0 || a.peek() == "" {
		a.fail(what)
		return 0
	}
	a.skip()
	return i
}

// register reads a whole register or a low half.
func (a *assembler) register() (r uint8, whole bool) {
	r, whole, ok := a.peek().asRegister()
	if !ok {
		a.fail("a register, r0 to r10 or w0 to w10")
		return 0, true
	}
	a.skip()
	return r, whole
}

// sameWidth reads a register that is whole if the first operand was, and a half if not.
func (a *assembler) sameWidth(whole bool) uint8 {
	r, w, ok := a.peek().asRegister()
	if !ok || w != whole {
		a.fail(map[bool]string{true: "a whole register, r0 to r10", false: "the low half of a register, w0 to w10"}[whole])
		return 0
	}
	a.skip()
	return r
}

// repeat reads the register r once more.
func (a *assembler) repeat(r uint8, whole bool) {
	if name := reg(r, whole); !a.accept(token(name)) {
		a.fail(name)
	}
}

// number reads a number, with or without a sign, of lo to hi.
func (a *assembler) number(lo int64, hi uint64) uint64 {
	rest := a.rest
	negative := a.accept("-")
	words := 1
	if negative || a.accept("+") {
		words = 2
	}
	digits, isHex := strings.CutPrefix(string(a.peek()), "0x")
	base := 10
	if isHex {
		base = 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || negative && n > uint64(-lo) || !negative && n > hi {
		a.rest = rest
		a.failAt(words, fmt.Sprintf("a number from %d to %d", lo, hi))
		return 0
	}
	a.skip()
	if negative {
		return -n
	}
	return n
}

// imm reads an immediate. One that is extended to 64 bits is signed; one that is not may be
// written without a sign, too.
func (a *assembler) imm(extended bool) int32 {
	if extended {
		return int32(a.number(math.MinInt32, math.MaxInt32))
	}
	return int32(a.number(math.MinInt32, math.MaxUint32))
}
