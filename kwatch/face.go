package kwatch

import (
	"fmt"

	"sonde/kernel/grace"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

func init() {
	attach.Show(&attach.Face{Name: "kwatch", Head: fmt.Sprintf("reg %-2s len %-16s", "t", "address"), Last: "symbol",
		Counts: ledger.Columns{"entered", "handled", "declined", "recursion", "disarmed", "abandoned", "unexplained"},
		Rows:   rows, Forget: forget})
}

func rows() (all []attach.Row) {
	for _, i := range All() {
		status := ""
		if i.Gone || i.Disabled {
			status = " [DISABLED]"
		}
		if Unseen(i.Type) != "" {
			status += " [locked instructions not seen]"
		}
		if i.Blind != 0 {
			status += fmt.Sprintf(" [%d steps not watched]", i.Blind)
		}
		all = append(all, attach.Row{Key: fmt.Sprintf("%-3d %-2s %-3d %016x", i.DebugReg, i.Type, i.Length, i.Addr), Ledger: i.Ledger, Place: i.Where + "  " + i.Owner + status})
	}
	return all
}

// forget is attach.Face's Forget.
func forget(name string) []string {
	c, forgotten := leaveOwner(name)
	c.Complete()
	return forgotten
}

// leaveOwner is forget of which the wait is left to do.
func leaveOwner(name string) (c grace.Change, forgotten []string) {
	var mine []*point
	mu.Lock()
	defer mu.Unlock()
	for n := range points {
		if p := points[n].Load(); p != nil && p.owner == name && p.place == nil { // links are closed by package attach
			forgotten = append(forgotten, "a watchpoint, "+p.what())
			mine = append(mine, p)
		}
	}
	return leave(mine), forgotten
}
