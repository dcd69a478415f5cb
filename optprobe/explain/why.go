package explain

import (
	"fmt"
	"io"

	"sonde/optprobe"
)

const partOfAddress = "under a jump that byte is part of an address, not an instruction"

// lessons says what would go wrong, for each reason.
var lessons = map[optprobe.Reason]string{
	optprobe.NoDecode:   "an unknown instruction might be a branch into the region",
	optprobe.Overlap:    "the bytes decode in two ways, and only one was checked",
	optprobe.JumpAway:   "it may lead into the region",
	optprobe.BadTable:   "its entries may lead into the region",
	optprobe.FuncEnd:    "the jump would overwrite what follows the function",
	optprobe.Branch:     partOfAddress,
	optprobe.TableEntry: partOfAddress,
	optprobe.Entry:      partOfAddress,
	optprobe.Return:     partOfAddress,
	optprobe.Address:    "code that has the address may jump there",
	optprobe.Unmovable:  "a copy of it would not do the same",
	optprobe.CallStack:  "the copy pushes the return address first, which changes RSP",
	optprobe.CallOdd:    "the copy would need a jump with the same operand",
	optprobe.TooFar:     "a 32-bit displacement does not reach that far",
	optprobe.TooHigh:    "PUSH takes a signed 32-bit number",
}

// writeWhy lists the reasons against a jump: those of the code, which stay,
// and those of the moment.
func (p *Place) writeWhy(w io.Writer) {
	now := p.blockers()
	if len(p.Why)+len(now) == 0 {
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "WHY NOT   a jump")
	for i, o := range p.Why {
		fmt.Fprintf(w, "  %d. %s\n", i+1, o)
		if s := lessons[o.Reason]; s != "" {
			fmt.Fprintf(w, "     (%s)\n", s)
		}
	}
	for i, s := range now {
		fmt.Fprintf(w, "  %d. at the moment: %s\n", len(p.Why)+i+1, s)
	}
}
