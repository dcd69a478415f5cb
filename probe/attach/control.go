package attach

import (
	"errors"
	"fmt"
	"io"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/ledger"
)

// Mount makes the control files under dir, usually /sys/kernel/debug: attach/kinds says what each
// kind of probe can do, attach/links lists what is attached; and the files of each Face.
func Mount(tree *vfs.FS, dir string) error {
	err := tree.BindAll(dir+"/attach", map[string]vfs.Node{"kinds": ctl.Print(writeKinds), "links": ctl.Print(writeLinks)})
	for _, f := range faces {
		err = errors.Join(err, f.mount(tree, dir))
	}
	return err
}

// columns are the kinds as the table has them, with a place of each.
var columns = [...]struct{ name, example string }{
	Kernel: {"kernel", "vfs.Read"}, Program: {"program", "sh:main"}, Line: {"line", "io.go:76"}, Inline: {"copies", "inline:F"}, Watch: {"watch", "w@x.y:4"},
	Call: {"call", "sys:openat"}, Tick: {"tick", "tick:99hz"}, Every: {"timer", "every:1s"}, Event: {"event", "event:go:park"},
}

// writeKinds prints the kinds that have a provider as columns, and what they can do as rows.
func writeKinds(w io.Writer) {
	row := func(name string, cell func(k Kind) string) {
		line := fmt.Sprintf("%-20s", name)
		for k, p := range providers {
			if p != nil {
				line += fmt.Sprintf(" %-10s", cell(Kind(k)))
			}
		}
		ctl.Line(w, "%s", line)
	}
	row("", func(k Kind) string { return columns[k].name })
	row("place", func(k Kind) string { return columns[k].example })
	for i, name := range abilityNames {
		row(name, func(k Kind) string {
			if providers[k].Can(k)&(1<<i) != 0 {
				return "yes"
			}
			return "-"
		})
	}
}

// counts are what the list has of each link's ledger.
var counts = ledger.Columns{"entered", "handled", "missed", "unexplained"}

// writeLinks prints the open links: their places, owners and counts.
func writeLinks(w io.Writer) {
	fmt.Fprintf(w, "places %s  %-8s first place\n", counts.Head(), "owner")
	for _, l := range Links() {
		places := l.Places()
		first := ""
		if len(places) > 0 {
			first = places[0].Where + ": " + places[0].Way
			if places[0].Disabled {
				first += " [DISABLED]"
			}
		}
		sum := l.Ledger()
		if loss := sum.Loss(); loss != "" {
			first += "  " + loss
		}
		ctl.Line(w, "%6d %s  %-8s %s", len(places), counts.Row(sum), l.Options.Owner, first)
	}
}
