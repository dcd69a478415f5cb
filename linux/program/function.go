package program

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/prologue"
	"sonde/kernel/refusal"
)

// function is one whose instructions are known.
type function struct {
	Symbol
	code    []byte
	begins  []uint64 // offsets of instructions
	returns []uint64 // addresses
	leaves  []uint64
	err     error // it does not decode to its end
}

// maxFunction is more than any function has, in bytes. A file may say what it likes.
const maxFunction = 4 << 20

// read finds the instructions of s, or remembers them.
func (f *File) read(s Symbol) (*function, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.last; l != nil && l.Addr == s.Addr && l.Size == s.Size {
		return l, l.err
	}
	if s.Size > maxFunction {
		return nil, refusal.New(syscall.EILSEQ, "%s has %d bytes", s.Name, s.Size)
	}
	code, err := f.Code(s.Addr, s.Size)
	if err != nil {
		return nil, err
	}
	l := &function{Symbol: s, code: code}
	l.walk()
	f.last = l
	return l, l.err
}

func (l *function) walk() {
	end, err := insn.Walk(l.code, func(off int, in insn.Inst) bool {
		pc := l.Addr + uint64(off)
		l.begins = append(l.begins, uint64(off))
		switch {
		case in.Flow == insn.Ret || in.Flow == insn.FarRet || in.Flow == insn.Iret:
			l.returns = append(l.returns, pc)
		case in.Flow == insn.JmpInd, in.Flow == insn.Jmp && in.Target(pc)-l.Addr >= l.Size:
			l.leaves = append(l.leaves, pc)
		}
		return true
	})
	if err != nil {
		l.err = refusal.New(syscall.EILSEQ, "%s does not decode to its end, at +%#x: %v", l.name(), end, err)
	}
}

func (l *function) name() string {
	if l.Name == "" {
		return fmt.Sprintf("the function at %#x", l.Addr)
	}
	return l.Name
}

// Boundary fails if no instruction begins at addr, in one of the functions that it is in. A function with data in it
// is refused as a whole, unless addr is in another as well: what is code there cannot be told.
//
// Errors: EILSEQ; ErrNoFunction, if nothing is known there.
func (f *File) Boundary(addr uint64) error {
	all := f.around(addr)
	if all == nil {
		return ErrNoFunction
	}
	begins, unknown := false, error(nil)
	for _, s := range all {
		l, err := f.read(s)
		if err != nil {
			unknown = err
			continue
		}
		if _, ok := slices.BinarySearch(l.begins, addr-s.Addr); !ok {
			return refusal.New(syscall.EILSEQ, "%s+%#x is inside an instruction", l.name(), addr-s.Addr)
		}
		begins = true
	}
	if begins {
		return nil
	}
	return unknown
}

// around returns the functions that addr is in, one for each place where one begins.
func (f *File) around(addr uint64) (all []Symbol) {
	s, _, ok := f.At(addr)
	if !ok {
		return nil
	}
	all = []Symbol{s}
	i, _ := slices.BinarySearchFunc(f.funcs, s.Addr, func(s Symbol, addr uint64) int { return cmp.Compare(s.Addr, addr) })
	for n := i - 1; n >= 0 && n >= i-near; n-- {
		if c := f.funcs[n]; addr < c.End() && c.Addr != all[len(all)-1].Addr {
			all = append(all, c)
		}
	}
	return all
}

// Instructions returns the offsets of the instructions of s.
//
// Context: goroutine. The caller changes nothing in it.
// Errors: EILSEQ it does not decode to its end.
func (f *File) Instructions(s Symbol) ([]uint64, error) {
	l, err := f.read(s)
	if err != nil {
		return nil, err
	}
	return l.begins, nil
}

// Returns returns the addresses of the return instructions of s, and of the jumps that
// may leave it otherwise: to other functions, which return for it, or through a register.
// A Go function's jump to its own morestack, which begins it again, is a call.
//
// Context: goroutine. The caller changes nothing in it.
// Errors: EILSEQ it does not decode to its end.
func (f *File) Returns(s Symbol) (returns, leaves []uint64, err error) {
	l, err := f.read(s)
	if err != nil {
		return nil, nil, err
	}
	return l.returns, l.leaves, nil
}

// Check returns the stack check that s begins with. It is that of Go's compiler, and
// means something where s.Go.
func (f *File) Check(s Symbol) prologue.Check {
	const enough = 48
	code, err := f.Code(s.Addr, min(s.Size, enough))
	if err != nil || !s.Go {
		return prologue.Check{}
	}
	return prologue.Find(code)
}
