// Package unwind finds the callers of a program's function, using the registers and memory
// of a thread, and the files that its code comes from.
//
// Each frame is unwound by the first of these that can:
//
//   - a signal's frame: the kernel has made it, and its trampoline is known by its code;
//   - Go's pclntab, which says for each instruction where the return address is;
//   - .eh_frame, which C compilers write, even without frame pointers, and which libc's assembly has;
//   - the frame pointer; at the first instruction of a function the return address is on top of the
//     stack.
//
// It stops where a function says that it has no caller, and where a caller is not code.
// Everything that it reads may be wrong; it still terminates, because frames are counted.
package unwind

import (
	"bytes"
	"encoding/binary"

	"sonde/arch/amd64"
	"sonde/linux/program"
	"sonde/linux/program/cfi"
)

// Stack is a thread's memory, and what its code is from.
type Stack struct {
	// Read copies from the program's memory, and reports whether all is there.
	Read func(b []byte, addr uint64) bool
	// File returns the file whose code is mapped at pc, which is executable, and what its
	// addresses are moved by. Code that is from no file has none.
	File func(pc uint64) (f *program.File, bias uint64, ok bool)
	// Real returns the return address that was at addr, where a return probe has put that
	// of its trampoline, and otherwise ra. It may be nil.
	Real func(addr, ra uint64) uint64
}

// How a frame's caller was found.
type How uint8

// The ways.
const (
	Start How = iota // it is the function that was interrupted
	Signal
	Go
	CFI
	Pointer
)

// Frame is a function that has not returned.
type Frame struct {
	PC, SP uint64 // PC is the instruction that runs, or the one after the call
	File   *program.File
	Bias   uint64
	How    How
	// Exact: PC is that of an instruction, and not of one after a call.
	Exact bool
}

// Symbol returns the function, and how far PC is in it.
func (f *Frame) Symbol() (s program.Symbol, off uint64, ok bool) {
	if f.File == nil {
		return s, 0, false
	}
	if s, off, ok = f.File.At(f.look()); ok {
		off = f.PC - f.Bias - s.Addr
	}
	return s, off, ok
}

// look is an address, in the file, inside the instruction that the frame stands at: a call
// may be a function's last.
func (f *Frame) look() uint64 {
	if f.Exact {
		return f.PC - f.Bias
	}
	return f.PC - f.Bias - 1
}

// walker goes from frame to frame.
type walker struct {
	*Stack
	s cfi.State // the registers
	f Frame
}

// Walk returns up to most frames, the innermost first. r is not changed.
//
// Context: goroutine; of handlers, those of user probes.
func (s *Stack) Walk(r *amd64.Regs, most int) []Frame {
	w := walker{Stack: s}
	w.s.Load = w.load
	w.s.Reg = [cfi.Regs]uint64{r.AX, r.DX, r.CX, r.BX, r.SI, r.DI, r.BP, r.SP, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, r.IP}
	w.f = Frame{PC: r.IP, SP: r.SP, Exact: true}
	var all []Frame
	for len(all) < most {
		var mapped bool
		if w.f.File, w.f.Bias, mapped = s.File(w.f.PC); !mapped && len(all) > 0 {
			break
		}
		all = append(all, w.f)
		sp := w.s.Reg[cfi.RSP]
		how, ok := w.caller()
		if !ok || w.s.Reg[cfi.RSP] <= sp && how != Signal {
			break
		}
		w.f = Frame{PC: w.s.Reg[cfi.RIP], SP: w.s.Reg[cfi.RSP], How: how, Exact: how == Signal}
	}
	return all
}

func (w *walker) load(addr uint64) (uint64, bool) {
	var b [8]byte
	ok := w.Read(b[:], addr)
	return binary.LittleEndian.Uint64(b[:]), ok
}

// caller makes the registers those of the caller.
func (w *walker) caller() (How, bool) {
	if w.signal() {
		return Signal, true
	}
	if f := w.f.File; f != nil {
		if how, ok, known := w.byFile(f); known {
			return how, ok
		}
	}
	return Pointer, w.byPointer()
}

// byFile asks the file.
func (w *walker) byFile(f *program.File) (how How, ok, known bool) {
	pc := w.f.look()
	if size, known, ok := f.GoFrame(pc); known {
		return Go, ok && w.byGo(size), true
	}
	e, ok := f.Frames().Find(pc)
	if !ok {
		return 0, false, false
	}
	row, err := e.Row(pc) // inside the call, whose row it is
	if err != nil {
		return 0, false, false
	}
	ok, err = row.Caller(&w.s)
	if ok {
		w.s.Reg[cfi.RIP] = w.real(w.s.Reg[cfi.RSP]-8, w.s.Reg[cfi.RIP])
	}
	return CFI, ok && w.s.Reg[cfi.RIP] != 0, err == nil
}

// byGo leaves a function of Go with size bytes between SP and the return address. Below
// that it keeps its caller's BP, if it has pushed anything.
func (w *walker) byGo(size uint64) bool {
	at := w.s.Reg[cfi.RSP] + size
	if size > 0 {
		if bp, ok := w.load(at - 8); ok {
			w.s.Reg[cfi.RBP] = bp
		}
	}
	return w.popRA(at)
}

// popRA takes the return address at addr.
func (w *walker) popRA(addr uint64) bool {
	ra, ok := w.load(addr)
	w.s.Reg[cfi.RIP], w.s.Reg[cfi.RSP] = w.real(addr, ra), addr+8
	return ok && w.s.Reg[cfi.RIP] != 0
}

func (w *walker) real(addr, ra uint64) uint64 {
	if w.Real == nil {
		return ra
	}
	return w.Real(addr, ra)
}

// byPointer leaves a function that keeps its caller's BP where BP points to, or one that
// has just begun.
func (w *walker) byPointer() bool {
	if w.f.Exact && w.atEntry() {
		return w.popRA(w.s.Reg[cfi.RSP])
	}
	bp := w.s.Reg[cfi.RBP]
	if bp < w.s.Reg[cfi.RSP] || bp%8 != 0 {
		return false
	}
	old, ok := w.load(bp)
	w.s.Reg[cfi.RBP] = old
	return ok && w.popRA(bp+8)
}

// Instructions that a function, or what leads to it, begins with.
var (
	endbr64     = []byte{0xf3, 0x0f, 0x1e, 0xfa}
	jump        = []byte{0xff, 0x25}       // JMP [RIP+..]
	notrackJump = []byte{0xf2, 0xff, 0x25} // the same, with a prefix
)

// atEntry reports whether the return address is on top of the stack: PC is a function's
// first instruction, or the second after ENDBR64, or a jump through memory as in the PLT.
func (w *walker) atEntry() bool {
	var code [4]byte
	if !w.Read(code[:], w.f.PC) {
		return false
	}
	if bytes.HasPrefix(code[:], endbr64) || bytes.HasPrefix(code[:], jump) || bytes.HasPrefix(code[:], notrackJump) {
		return true
	}
	if w.f.File == nil {
		return false
	}
	_, off, ok := w.f.File.At(w.f.PC - w.f.Bias)
	return ok && (off == 0 || off == 4 && w.Read(code[:], w.f.PC-4) && bytes.HasPrefix(code[:], endbr64))
}
