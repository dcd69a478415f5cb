package event

import (
	"errors"
	"fmt"
	"strings"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Mount makes the files that list functions and tracepoints, and id and format of each tracepoint, where tools
// look for them.
//
// Errors: those of vfs.FS.Bind.
func Mount(tree *vfs.FS) (err error) {
	for _, e := range All() {
		dir := "events/" + e.System + "/" + e.Name
		err = errors.Join(err,
			Bind(tree, dir+"/id", ctl.Text(func() string { return fmt.Sprintf("%d\n", e.ID) })),
			Bind(tree, dir+"/format", ctl.Text(e.Format)))
	}
	return errors.Join(err, Bind(tree, "available_filter_functions", ctl.Print(functions)), Bind(tree, "available_events", ctl.Text(list)))
}

// list is what the file available_events says.
func list() string {
	var b strings.Builder
	for _, e := range All() {
		fmt.Fprintln(&b, e)
	}
	for _, f := range families {
		for _, name := range f.List() {
			fmt.Fprintln(&b, name)
		}
	}
	return b.String()
}
