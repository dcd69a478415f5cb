package optprobe

import (
	"strconv"

	"sonde/arch/amd64/insn"
)

// Reason says why a jump cannot replace the code at a place. The zero Reason means that it
// can.
type Reason uint8

// The reasons: the first group is about a whole function, the second about a region, the
// third about a region and its detour.
const (
	Fine       Reason = iota
	NoDecode          // data in text, or an instruction newer than package insn
	Overlap           // a branch to where no instruction begins: the bytes have two meanings
	JumpAway          // an indirect jump whose table is not known
	BadTable          // a jump table in another form than the compiler's
	Outside           // the offset is not in the function
	NotStart          // the offset is inside an instruction
	FuncEnd           // the jump would continue beyond the function
	Branch            // a direct branch of the function leads into the region
	TableEntry        // a jump table leads into the region
	Entry             // code outside the function leads into the region, or recover does
	Return            // a call is not the last instruction, or a call returns into the region
	Address           // the function computes the address of this code
	Unmovable         // see Obstacle.Move
	CallStack         // an indirect call through RSP, which the copy has changed
	CallOdd           // an indirect call whose operand package insn is not sure of
	TooFar            // detour and code, or its operands, are over 2 GB apart
	TooHigh           // the return address of a call cannot be pushed by one instruction
	NotRegion         // the bytes given to Relocate are not what a jump replaces
	reasons
)

// reasonText completes "cannot be optimized: ..", and is followed by the place.
var reasonText = [reasons]string{
	Fine:       "a jump can replace the code",
	NoDecode:   "the function contains bytes that are not a known instruction",
	Overlap:    "the function has a branch into the middle of an instruction",
	JumpAway:   "the function has an indirect jump that may lead anywhere",
	BadTable:   "the function uses an unreadable jump table",
	Outside:    "the function has no code",
	NotStart:   "no instruction begins",
	FuncEnd:    "the function ends within the jump's five bytes",
	Branch:     "a branch of the function ends",
	TableEntry: "a jump table leads to the code",
	Entry:      "other code, or recover, enters the function",
	Return:     "a call returns to the code",
	Address:    "the function uses the address of its code",
	Unmovable:  "an instruction cannot be moved",
	CallStack:  "a call has an operand relative to the stack pointer",
	CallOdd:    "a call has an operand of uncertain meaning",
	TooFar:     "the detour is more than 2 GB away from the code or its data",
	TooHigh:    "a call has a return address that does not fit in a signed 32-bit number",
	NotRegion:  "the region does not have the length that the jump needs",
}

// String returns a short clause without the place: see Obstacle.String.
func (r Reason) String() string {
	if r < reasons {
		return reasonText[r]
	}
	return "unknown reason"
}

// Obstacle is a reason and the offset in the function of the instruction at fault, or of
// the one that other code leads to.
type Obstacle struct {
	Reason Reason
	Off    int
	Move   insn.Reason // the reason, if it is Unmovable
}

// String returns the clause with the place, as in "a branch of the function
// ends at +0x13".
func (o Obstacle) String() string {
	if o.Reason == Fine {
		return o.Reason.String()
	}
	s := o.Reason.String() + " at +0x" + strconv.FormatInt(int64(o.Off), 16)
	if o.Reason == Unmovable {
		s += ": " + o.Move.String()
	}
	return s
}
