package ledger

import (
	"fmt"
	"strings"
)

// Columns are lines of ledgers as the columns of a table, by name.
type Columns []string

// Every is what the ledgers of probes in the kernel have; a probe in programs may be unset as well.
var Every = Columns{"entered", "handled", "declined", "recursion", "no_inst", "disarmed", "abandoned", "inflight", "unexplained"}

// widths are those of the columns that tables have.
var widths = map[string]int{
	"entered": 10, "handled": 10, "declined": 8, "recursion": 9, "no_inst": 8, "disarmed": 8, "abandoned": 9,
	"inflight": 8, "unset": 6, "missed": 10, "unexplained": 11,
}

// Head is the heading of the columns.
func (c Columns) Head() string { return c.line(func(name string) any { return name }) }

// Row is what the columns say of a ledger.
func (c Columns) Row(l Ledger) string {
	values := map[string]any{
		"entered": l.Entered, "handled": l.Handled, "declined": l.Declined, "recursion": l.Recursion, "no_inst": l.NoInst,
		"disarmed": l.Disarmed, "abandoned": l.Abandoned, "inflight": l.InFlight, "unset": l.Unset, "missed": l.Missed(), "unexplained": l.Unexplained(),
	}
	return c.line(func(name string) any { return values[name] })
}

func (c Columns) line(cell func(name string) any) string {
	cells := make([]string, len(c))
	for i, name := range c {
		cells[i] = fmt.Sprintf("%*v", widths[name], cell(name))
	}
	return strings.Join(cells, " ")
}
