package glass

import (
	"encoding/binary"

	"sonde/arch/amd64"
)

// A Thread is a thread of a program, as far as frames show it.
type Thread struct {
	PID, TID int
	Memory   interface {
		PeekWord(addr uint64) (v uint64, ok bool)
	}
}

// fill fills in what is in the thread's memory: at SP, at place, and at IP.
func (t Thread) fill(f *Frame, r *amd64.Regs, place uintptr) {
	for f.Words < StackWords {
		v, ok := t.Memory.PeekWord(r.SP + 8*uint64(f.Words))
		if !ok {
			break
		}
		f.Stack[f.Words] = v
		f.Words++
	}
	if t.code(&f.Text, uint64(place)) {
		f.Has |= HasText
	}
	if t.code(&f.Code, r.IP) {
		f.Has |= HasCode
	}
}

// code copies the bytes at addr, and returns false if they are not all there.
func (t Thread) code(to *[CodeBytes]byte, addr uint64) bool {
	for i := 0; i < CodeBytes; i += 8 {
		v, ok := t.Memory.PeekWord(addr + uint64(i))
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint64(to[i:], v)
	}
	return true
}
