package ledger

import "testing"

// TestColumns: users' scripts read these tables, so their columns stay where they are.
func TestColumns(t *testing.T) {
	l := Ledger{Entered: 45, Handled: 2, Declined: 3, Recursion: 4, NoInst: 5, Disarmed: 6, Abandoned: 7, InFlight: 8, Unset: 1}
	for _, c := range []struct {
		columns   Columns
		head, row string
	}{
		{
			Every,
			"   entered    handled declined recursion  no_inst disarmed abandoned inflight unexplained",
			"        45          2        3         4        5        6         7        8          10",
		},
		{Columns{"missed", "unset", "entered"}, "    missed  unset    entered", "        23      1         45"},
		{nil, "", ""},
	} {
		if head, row := c.columns.Head(), c.columns.Row(l); head != c.head || row != c.row {
			t.Errorf("%q:\n%q\n%q", c.columns, head, row)
		}
	}
	for _, name := range Every {
		if widths[name] == 0 {
			t.Errorf("%s has no width", name)
		}
	}
}
