package explain

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/listing"
)

// Slide draws what of the place is drawn on a slide, of at most listing.Height lines: how it is
// hit, what a jump overwrites, and what leads to where; not the code of the detour.
func (p *Place) Slide(w io.Writer) error {
	var b bytes.Buffer
	p.writeHead(&b)
	p.writeInstruction(&b)
	p.writeCounts(&b)
	p.writeTiers(&b)
	p.writeReason(&b)
	if p.Size > 0 {
		fmt.Fprintln(&b)
		p.drawBytes(&b)
	}
	if len(p.Layout.Code) > 0 {
		fmt.Fprintln(&b)
		p.writePath(&b)
	}
	return listing.Slide(w, b.String())
}

// writeCounts names the probes in a line.
func (p *Place) writeCounts(w io.Writer) {
	var all []string
	for _, k := range p.Probes {
		all = append(all, fmt.Sprintf("%s %s", k.Kind, count(int(k.Ledger.Entered), "hit")))
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "  PROBES: %s\n", strings.Join(all, ", "))
	}
}

// writeReason names the first of what stands against a jump.
func (p *Place) writeReason(w io.Writer) {
	switch all := p.against(); len(all) {
	case 0:
	case 1:
		fmt.Fprintf(w, "WHY NOT   a jump: %s\n", all[0])
	default:
		fmt.Fprintf(w, "WHY NOT   a jump (%d reasons): %s\n", len(all), all[0])
	}
}
