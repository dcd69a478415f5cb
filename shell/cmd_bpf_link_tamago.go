//go:build tamago && !noprobe

package shell

import (
	"fmt"
	"math"

	"sonde/probe/program"
)

// listed is how many places of a link the list has.
const listed = 8

// bpfLinks prints one link with all its places, or all with their first ones.
func bpfLinks(c *Context, args []string) error {
	all, err := bpfNamed(program.Links(), bpfLinkOf, args)
	if err != nil {
		return err
	}
	most := listed
	if len(args) > 0 {
		most = math.MaxInt
	}
	for _, l := range all {
		places := l.Places()
		fmt.Fprintf(c.Out, "%d: prog %d  name %s  places %d\n", l.ID, l.Prog.ID, l.Prog.Checked.Program.Name, len(places))
		for _, at := range places[:min(len(places), most)] {
			fmt.Fprintf(c.Out, "\t%s  %s  handled %d  missed %d  unexplained %d", at.Where, at.Way, at.Ledger.Handled, at.Ledger.Missed(), at.Ledger.Unexplained())
			if loss := at.Ledger.Loss(); loss != "" {
				fmt.Fprintf(c.Out, "  %s", loss)
			}
			fmt.Fprintln(c.Out)
		}
		if n := len(places) - most; n > 0 {
			fmt.Fprintf(c.Out, "\t%d more: bpf link show id %d\n", n, l.ID)
		}
		if err := printPins(c.Out, l); err != nil {
			return err
		}
	}
	return nil
}

func bpfDetach(_ *Context, args []string) error {
	l, rest, err := bpfLinkOf(args)
	if err = bpfEnd(rest, err); err == nil {
		err = bpfUnpinned(l)
	}
	if err == nil {
		l.Close()
	}
	return err
}
