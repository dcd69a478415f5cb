package goabi

// Convention says where the functions of a program find their arguments.
type Convention uint8

const (
	C     Convention = iota // System V's registers
	Regs                    // Go's registers
	Stack                   // Go's assembly (ABI0): words on the stack, after the return address; the results follow
	Asm                     // Go's assembly of which the file does not say which of these it is
	Mixed                   // several functions, which are not of one convention
)

// Args are the registers of arguments; nil: they are in none, or it is not known in which.
//
// Context: any.
func (c Convention) Args() Words {
	switch c {
	case C:
		return SystemV
	case Regs:
		return Go
	}
	return nil
}

// Why says why arguments or results of such a function cannot be shown.
func (c Convention) Why() string { return reasons[c] }

var reasons = map[Convention]string{
	Stack: "it is assembly of Go, which has arguments and results on the stack, not in registers",
	Asm:   "it is assembly of a Go program, and the file does not say where its arguments are",
	Mixed: "the functions that fit have their arguments in different places, as those in C and in Go: give a pattern for each",
}
