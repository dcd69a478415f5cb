package verify

import (
	"fmt"
	"strconv"

	"sonde/bpf"
)

// Error is why a program is refused.
type Error struct {
	PC     int
	Line   *bpf.Line // nil: not known
	Text   string    // of the instruction
	Why    string
	Log    string // what was walked, as Env.LogLevel asks
	TooBig bool   // a limit of the walk was reached
	// Invalid says that it is no program for this kernel, whatever its registers hold: Linux has another errno
	// for that, by which libraries find out what there is.
	Invalid bool
}

// Error names the instruction, its source line if there is one, and what is wrong.
func (e *Error) Error() string {
	where := ""
	if e.Line != nil {
		where = fmt.Sprintf(" at %s:%d", e.Line.File, e.Line.Number)
	}
	return fmt.Sprintf("instruction %d (%s)%s: %s", e.PC, e.Text, where, e.Why)
}

// refusal is what is wrong with the instruction that is walked. It is thrown by refuse, and caught
// in Check.
type refusal struct {
	pc      int
	why     string
	tooBig  bool
	invalid bool
}

// refuse ends the walk.
func (w *walk) refuse(format string, args ...any) {
	panic(refusal{pc: w.pc, why: fmt.Sprintf(format, args...)})
}

// unknown ends the walk, since the kernel does not have what the program wants, or no instruction is like that.
func (w *walk) unknown(format string, args ...any) {
	panic(refusal{pc: w.pc, why: fmt.Sprintf(format, args...), invalid: true})
}

// exceed ends the walk, since a limit was reached.
func (w *walk) exceed(format string, args ...any) {
	panic(refusal{pc: w.pc, why: fmt.Sprintf(format, args...), tooBig: true})
}

func newError(p *bpf.Program, r refusal) *Error {
	text, err := bpf.Text(p.Insns, r.pc)
	if err != nil {
		text = "no instruction"
	}
	return &Error{PC: r.pc, Line: p.LineOf(r.pc), Text: text, Why: r.why, TooBig: r.tooBig, Invalid: r.invalid}
}

func itoa(i int) string { return strconv.Itoa(i) }
