// Package fuse makes the code of a hit that has its handler in it: what the place needs is saved, the hit is counted,
// and the handler's code, which is compiled for the place, follows.
//
//	slow:   restore; JMP general
//	entry:  the stack check
//	        save
//	        CMPQ inside(GS), $0; JNE slow
//	        INCQ count(GS)
//	        the handler's code
//	        restore
//
// A hit inside of another one, or of a program, goes the general way. One counter says that a hit was entered and that it
// was handled: nothing in between leaves. No Go is called, so that neither stack nor g are switched.
package fuse

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/probe/attach"
)

// Pushed is how many words are pushed at most.
const Pushed = 4

// A Spec is what the code is made of.
type Spec struct {
	At      uintptr                 // where it will be
	General uintptr                 // where the general way begins, behind its stack check
	Check   func(at uintptr) []byte // the copy of the stack check there, for an address; nil: there is none
	Inside  int32                   // at GS: the word that is 0 outside of hits and programs
	Count   int32                   // at GS: the counter
	Dead    bool                    // nobody needs the flags
	Free    []uint8                 // registers that nobody needs, by their hardware numbers
	IP      uint64                  // what the handler is told
	Handler attach.Fuser
}

// Code is what Make makes.
type Code struct {
	Bytes  []byte
	Entry  int     // where it is entered
	depths []depth // ascending
}

// depth says how many words are on the stack from an offset on.
type depth struct{ off, words int }

// Depth returns how many words are pushed when the instruction at off is about to be executed.
//
// Context: any.
func (c *Code) Depth(off int) (words int) {
	for i := range c.depths {
		if c.depths[i].off > off {
			break
		}
		words = c.depths[i].words
	}
	return words
}

// savable are registers that can be pushed, in the order in which they are taken: those first that arguments of Go
// functions are not in. R14 and BP, by which others find g and frames, are none of them; AX may have the flags, and
// divisions need DX.
var savable = []uint8{12, 13, 15, 11, 10, 9, 8, 6, 7, 1, 3}

// Make makes the code.
//
// Errors: why the handler cannot be compiled for this place.
func Make(s *Spec) (*Code, error) {
	at := attach.Fusion{IP: s.IP, Free: s.Free, Most: Pushed, Stack: !s.Dead}
	if at.Stack {
		at.Most--
	}
	at.Others = slices.DeleteFunc(slices.Clone(savable), func(r uint8) bool { return slices.Contains(s.Free, r) })
	body, changes, err := s.Handler.Fuse(&at)
	if err != nil {
		return nil, err
	}
	saved := slices.DeleteFunc(slices.Clone(changes), func(r uint8) bool { return slices.Contains(s.Free, r) })
	if len(saved) > at.Most {
		return nil, fmt.Errorf("%d registers would have to be saved, more than %d", len(saved), at.Most)
	}
	c := &Code{}
	c.restore(saved, at.Stack)
	c.put(0xE9) // JMP general
	c.imm32(int32(int64(s.General) - int64(s.At) - int64(len(c.Bytes)+4)))
	c.Entry = len(c.Bytes)
	c.deep(0)
	if s.Check != nil {
		c.put(s.Check(s.At + uintptr(c.Entry))...)
	}
	c.save(saved, at.Stack)
	c.put(0x65, 0x48, 0x83, 0x3C, 0x25) // CMPQ inside(GS), $0
	c.imm32(s.Inside)
	c.put(0)
	if back := -(len(c.Bytes) + 2); back >= -128 {
		c.put(0x75, byte(back)) // JNE slow
	} else {
		c.put(0x0F, 0x85)
		c.imm32(int32(-(len(c.Bytes) + 4)))
	}
	c.put(0x65, 0x48, 0xFF, 0x04, 0x25) // INCQ count(GS)
	c.imm32(s.Count)
	c.put(body...)
	c.restore(saved, at.Stack)
	return c, nil
}

func (c *Code) put(b ...byte) { c.Bytes = append(c.Bytes, b...) }
func (c *Code) imm32(v int32) { c.Bytes = binary.LittleEndian.AppendUint32(c.Bytes, uint32(v)) }

// deep notes how many words are pushed from here on.
func (c *Code) deep(words int) { c.depths = append(c.depths, depth{len(c.Bytes), words}) }

// save pushes registers, and then AX, which gets the flags.
func (c *Code) save(regs []uint8, flags bool) {
	for i, r := range regs {
		c.stack(0x50, r) // PUSHQ
		c.deep(i + 1)
	}
	if flags {
		c.stack(0x50, 0)
		c.deep(len(regs) + 1)
		c.put(0x9F, 0x0F, 0x90, 0xC0) // LAHF; SETO AL
	}
}

// restore undoes save, whatever the flags are. OF comes from an addition, the others from AH: see kprobes/soft_amd64.h,
// RESTORE.
func (c *Code) restore(regs []uint8, flags bool) {
	words := len(regs)
	if flags {
		c.deep(words + 1)
		c.put(0x04, 0x7F, 0x9E) // ADDB $0x7f, AL; SAHF
		c.stack(0x58, 0)        // POPQ
	}
	c.deep(words)
	for i := range slices.Backward(regs) {
		c.stack(0x58, regs[i])
		c.deep(i)
	}
}

// stack puts a PUSHQ or POPQ of a register.
func (c *Code) stack(op byte, r uint8) {
	if r >= 8 {
		c.put(0x41)
	}
	c.put(op | r&7)
}
