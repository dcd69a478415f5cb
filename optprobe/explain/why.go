package explain

import (
	"fmt"
	"io"

	"sonde/optprobe"
)

const partOfAddress = "under a jump that byte is part of an address, not an instruction"

// lessons says what would go wrong, for each reason.
var lessons = map[optprobe.Reason]string{
	optprobe.NoDecode:   "what is not understood might be a branch into the region",
	optprobe.Overlap:    "these bytes have two meanings, of which one was looked at",
	optprobe.JumpAway:   "it may lead into the region",
	optprobe.BadTable:   "its entries may lead into the region",
	optprobe.FuncEnd:    "the jump would overwrite the beginning of something else",
	optprobe.Branch:     partOfAddress,
	optprobe.TableEntry: partOfAddress,
	optprobe.Entry:      partOfAddress,
	optprobe.Return:     partOfAddress,
	optprobe.Address:    "who knows the address may go there",
	optprobe.Unmovable:  "a copy of it would not do the same",
	optprobe.CallStack:  "the copy pushes the return address first, and RSP is another then",
	optprobe.CallOdd:    "the copy would have to read it as a jump",
	optprobe.TooFar:     "32 bits of displacement do not reach",
	optprobe.TooHigh:    "PUSH has 32 bits for it",
}

// writeWhy lists what stands against a jump: the code's reasons, which stay,
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
		fmt.Fprintf(w, "  %d. for the moment: %s\n", len(p.Why)+i+1, s)
	}
}
