package images

import (
	"errors"
	"fmt"

	"sonde/linux/program"
)

// ReturnsOf says in which way a return probe sees the returns of the function at addr, an
// address in the file, and why.
func ReturnsOf(f *program.File, addr uint64) string {
	if s, off, ok := f.At(addr); ok && off == 0 && s.Go {
		returns, _, _ := f.Returns(s)
		return OnReturns(len(returns))
	}
	return OnExits(f.Exits(addr))
}

// OnBeginning is said of such a function in addition if its calls have data or the like.
const OnBeginning = ", and on its beginning"

// OnReturns is what ReturnsOf says of a Go function with n return instructions.
func OnReturns(n int) string {
	return fmt.Sprintf("breakpoints on its returns (%d), since it is Go code", n)
}

// OnExits is what it says of other functions; err is why not all of their exits are known.
func OnExits(e *program.Exits, err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("trampoline (%v)", err)
	case len(e.Returns)+len(e.Jumps) == 0:
		return "a breakpoint on its beginning alone (it has no exit, and does not return)"
	case len(e.Jumps) > 0:
		return fmt.Sprintf("breakpoints on its exits (%d, and %d jumps; trampoline after a tail call)", len(e.Returns), len(e.Jumps))
	}
	return fmt.Sprintf("breakpoints on its exits (%d)", len(e.Returns))
}

// ExitsAt returns the exits of the function at an address of the file.
//
// Errors: why not all of them are known.
func (im *Image) ExitsAt(addr uint64) (*program.Exits, error) {
	if im == nil {
		return nil, errors.New("it is not the code of a program's file")
	}
	if e, ok := im.exits[addr]; ok {
		return e.Exits, e.err
	}
	e, err := im.Exits(addr)
	if im.exits == nil {
		im.exits = map[uint64]exitsOrNot{}
	}
	im.exits[addr] = exitsOrNot{e, err}
	return e, err
}

// exitsOrNot is a result of program.Exits.
type exitsOrNot struct {
	*program.Exits
	err error
}
