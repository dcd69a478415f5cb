// Package fuse makes the code of a hit that has its handler in it: what the place needs is saved, the hit is counted,
// and the handler's code, which is compiled for the place, follows.
//
//	bail:   MOVL $0, running(GS)
//	slow:   restore; JMP general
//	entry:  the stack check
//	        save
//	        CMPQ inside(GS), $0; JNE slow
//	        the handler's code: INCQ count(GS), and what it does
//	        restore
//
// A hit inside of another one, or of a program, goes the general way. One counter says that a hit was entered and that it
// was handled: what comes after it does not leave. A program that looks for keys does so before it, while it holds the
// CPU, and bails out if there is none. No Go is called, so that neither stack nor g are switched.
package fuse

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/arch/amd64/trap"
	"sonde/probe/attach"
)

// Pushed is how many words are pushed at most.
const Pushed = 4

// A Spec is what the code is made of.
type Spec struct {
	At      uintptr                 // where it will be
	General uintptr                 // where the general way begins, after its stack check
	Check   func(at uintptr) []byte // the copy of the stack check there, for an address; nil: there is none
	Inside  int32                   // at GS: the word that is 0 outside of hits and programs
	Count   int32                   // at GS: the counter
	Dead    bool                    // no instruction needs the flags
	Free    []uint8                 // registers that no instruction needs, by their hardware numbers
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
	at := attach.Fusion{IP: s.IP, Count: s.Count, Free: s.Free, Most: Pushed}
	if !s.Dead {
		at.Stack = map[uint8]uint8{0: 0}
		at.Most--
	}
	at.Others = without(savable, s.Free...)
	body, err := s.Handler.Fuse(&at)
	if err != nil {
		return nil, err
	}
	saved := without(body.Changes, s.Free...)
	if len(saved) > at.Most {
		return nil, fmt.Errorf("%d registers would have to be saved, more than %d", len(saved), at.Most)
	}
	c := &Code{}
	if len(body.Bails) > 0 {
		c.deep(len(saved) + asWord(!s.Dead))
		c.releases()
	}
	slow := len(c.Bytes)
	c.restore(saved, !s.Dead)
	c.put(0xE9) // JMP
	c.general(s)
	c.Entry = len(c.Bytes)
	c.deep(0)
	if s.Check != nil {
		c.put(s.Check(s.At + uintptr(c.Entry))...)
	}
	c.save(saved, !s.Dead)
	c.asks(s.Inside)
	if back := slow - (len(c.Bytes) + 2); back >= -128 {
		c.put(0x75, byte(back)) // JNE slow
	} else {
		c.put(0x0F, 0x85)
		c.imm32(int32(slow - (len(c.Bytes) + 4)))
	}
	begins := len(c.Bytes)
	c.put(body.Code...)
	c.bails(body, begins, 0)
	c.restore(saved, !s.Dead)
	return c, nil
}

// bails has the handler's code, which begins at an offset, bail out to another one.
func (c *Code) bails(f *attach.Fused, begins, to int) {
	for _, at := range f.Bails {
		binary.LittleEndian.PutUint32(c.Bytes[begins+at:], uint32(to-(begins+at+4)))
	}
}

// releases puts what says that the program does not run.
func (c *Code) releases() {
	c.put(0x65, 0xC7, 0x04, 0x25) // MOVL
	c.imm32(int32(trap.OffsetRunning))
	c.imm32(0)
}

func asWord(pushed bool) int {
	if pushed {
		return 1
	}
	return 0
}

// general puts the distance to the general way.
func (c *Code) general(s *Spec) {
	c.imm32(int32(int64(s.General) - int64(s.At) - int64(len(c.Bytes)+4)))
}

// asks puts CMPQ at(GS), $0.
func (c *Code) asks(at int32) {
	c.put(0x65, 0x48, 0x83, 0x3C, 0x25)
	c.imm32(at)
	c.put(0)
}

// counts puts INCQ at(GS).
func (c *Code) counts(at int32) {
	c.put(0x65, 0x48, 0xFF, 0x04, 0x25)
	c.imm32(at)
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
