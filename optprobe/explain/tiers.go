package explain

import (
	"fmt"
	"io"
	"strings"

	"sonde/kprobes/place"
	"sonde/shell/paint"
)

// ways says what becomes of the instruction after a breakpoint.
var ways = [...]string{
	place.Refused:  "refused: it cannot be single-stepped",
	place.Emulated: "emulated on the saved registers",
	place.Branched: "emulated on the saved registers",
	place.Decided:  "decided: the hit does the stack check itself",
	place.Within:   "decided if a probe at the entry was; else in a slot",
	place.Boosted:  "boosted: run in a slot, which jumps back",
	place.Stepped:  "single-stepped in a slot, with a second trap",
	place.Detoured: inDetour,
}

// inDetour is the same for a jump.
const inDetour = "run as a copy in the detour, which jumps back"

// hits are the colours of how a hit comes.
var hits = map[string]paint.Colour{"JUMP": paint.Jump, "INT3": paint.Trap, "-": paint.Error}

// tinted is how a hit comes, for w, with spaces up to a width.
func tinted(w io.Writer, hit string, width int) string {
	return paint.Text(w, hits[hit], hit) + strings.Repeat(" ", width-len(hit))
}

// writeTiers says for each set of handlers how a hit comes and continues.
func (p *Place) writeTiers(w io.Writer) {
	tier := func(handlers, hit, then string) {
		fmt.Fprintf(w, "  %-22s %s %s\n", handlers, tinted(w, hit, 6), then)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "TIERS                    HIT BY THE INSTRUCTION IS")
	entry := p.Addr == p.Func
	if len(p.Why) == 0 {
		tier("pre-handler", "JUMP", inDetour)
		tier("  until the jump is in", "INT3", inDetour)
		tier("  optimization off", "INT3", ways[p.Pre])
	} else {
		tier("pre-handler", "INT3", ways[p.Pre])
	}
	if p.Post == place.Refused {
		tier("with post-handler", "-", ways[p.Post])
	} else {
		tier("with post-handler", "INT3", ways[p.Post])
	}
	switch {
	case !entry:
		tier("return probe, jprobe", "-", "refused: not the entry of a function")
		return
	case p.NoRet != "":
		tier("return probe", "-", "refused: the function "+p.NoRet)
	default:
		tier("return probe", "", "as with a pre-handler")
	}
	tier("jprobe", "INT3", ways[p.Pre])
}
