package tracepoint

import (
	"errors"
	"fmt"

	"sonde/kernel/tracefs"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Mount makes the files id and format of each tracepoint, where tools look for them.
//
// Errors: those of vfs.FS.Bind.
func Mount(tree *vfs.FS) (err error) {
	for _, e := range events {
		dir := "events/" + e.System + "/" + e.Name
		err = errors.Join(err,
			tracefs.Bind(tree, dir+"/id", ctl.Text(func() string { return fmt.Sprintf("%d\n", e.ID) })),
			tracefs.Bind(tree, dir+"/format", ctl.Text(e.Format)))
	}
	return errors.Join(err, tracefs.Bind(tree, "available_events", ctl.Text(list)))
}

// list is what the file available_events says.
func list() (text string) {
	for _, e := range events {
		text += e.String() + "\n"
	}
	return text
}
