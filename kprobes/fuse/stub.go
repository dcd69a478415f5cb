package fuse

import (
	"fmt"
	"slices"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/probe/attach"
)

// stubPushed is how many words a stub pushes at most on the entry stack. See trap.entryShift.
const stubPushed = 2

// Stub makes the code of an INT3: see trap.Int3. General is trap.Known's, and Leads where the place's own code continues.
// Two registers are free; others are saved if they are needed.
//
//	CMPQ inside(GS), $0; JNE general
//	save
//	the handler's code: INCQ count(GS), and what it does
//	restore
//	INCQ traps(GS)
//	MOVQ $leads, IP of the frame; POPQ R13; POPQ R15; IRETQ
//	bail: restore; MOVL $0, running(GS); XORL R15, R15; JMP general
//
// Errors: why the handler cannot be compiled for this place.
func Stub(s *Spec, leads uintptr) ([]byte, error) {
	body, saved, err := onEntryStack(s)
	if err == nil && uintptr(int32(leads)) != leads {
		err = fmt.Errorf("its copy is too far away")
	}
	if err != nil {
		return nil, err
	}
	c := &Code{}
	c.asks(s.Inside)
	begins := c.hit(s, body, saved)
	c.put(0x48, 0xC7, 0x44, 0x24, 16) // MOVQ
	c.imm32(int32(leads))
	c.put(0x41, 0x5D, 0x41, 0x5F, 0x48, 0xCF) // POPQ, POPQ, IRETQ
	if len(body.Bails) > 0 {
		c.bails(body, begins, len(c.Bytes))
		c.restore(saved, false)
		c.releases()
		c.put(0x45, 0x31, 0xFF, 0xE9) // XORL, JMP
		c.general(s)
	}
	return c.Bytes, nil
}

// hit puts what a stub does unless what it has compared differs, and returns where the handler's code begins.
func (c *Code) hit(s *Spec, body *attach.Fused, saved []uint8) (begins int) {
	c.put(0x0F, 0x85) // JNE
	c.general(s)
	c.save(saved, false)
	begins = len(c.Bytes)
	c.put(body.Code...)
	c.restore(saved, false)
	c.counts(int32(trap.OffsetBreakpoints))
	return begins
}

// InProgram makes the code of a breakpoint in ring 3: see user.Break. General is user.Known's, and the program continues moves
// bytes after the breakpoint. No other hit can be going on there, but a program that single-steps itself is due a trap.
//
//	TESTL $TF, flags of the frame; JNE general
//	save
//	the handler's code: INCQ count(GS), and what it does
//	restore
//	INCQ traps(GS)
//	ADDQ $moves, IP of the frame; POPQ R13; POPQ R15; SWAPGS; IRETQ
//
// Errors: why the handler cannot be compiled for this place.
func InProgram(s *Spec, moves int32) ([]byte, error) {
	body, saved, err := onEntryStack(s)
	if err == nil && len(body.Bails) > 0 {
		err = fmt.Errorf("it looks for keys, and what is removed from a map waits for no program in ring 3")
	}
	if err != nil {
		return nil, err
	}
	c := &Code{}
	c.put(0xF7, 0x44, 0x24, 32) // TESTL
	c.imm32(amd64.RFLAGS_TF)
	c.hit(s, body, saved)
	if moves != 0 {
		c.put(0x48, 0x81, 0x44, 0x24, 16) // ADDQ
		c.imm32(moves)
	}
	c.put(0x41, 0x5D, 0x41, 0x5F, 0x0F, 0x01, 0xF8, 0x48, 0xCF) // POPQ, POPQ, SWAPGS, IRETQ
	return c.Bytes, nil
}

// onEntryStack compiles the handler with as few registers as it needs, and returns those that are to be saved. Where on the
// stack the handler finds others depends on their number.
func onEntryStack(s *Spec) (body *attach.Fused, saved []uint8, err error) {
	at := attach.Fusion{IP: s.IP, Count: s.Count, Free: []uint8{13, 15}, Others: without(savable, 13, 15)}
	for ; at.Most <= stubPushed; at.Most++ {
		at.Stack = map[uint8]uint8{}
		for r, up := range trap.OnEntryStack {
			at.Stack[r] = up + uint8(8*at.Most)
		}
		if body, err = s.Handler.Fuse(&at); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if saved = without(body.Changes, at.Free...); len(saved) != at.Most {
		return nil, nil, fmt.Errorf("%d registers would have to be saved, not %d", len(saved), at.Most)
	}
	return body, saved, nil
}

// without returns a new list without some.
func without(list []uint8, some ...uint8) []uint8 {
	return slices.DeleteFunc(slices.Clone(list), func(r uint8) bool { return slices.Contains(some, r) })
}
