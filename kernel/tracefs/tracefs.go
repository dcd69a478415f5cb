// Package tracefs makes the files in /sys/kernel/tracing in which tools look for what can be probed.
// /sys/kernel/debug/tracing, where they were in the past, has the same.
package tracefs

import (
	"errors"
	"io"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Dirs are where the files are.
var Dirs = [...]string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// Mount makes the files.
//
// Errors: those of vfs.FS.Bind.
func Mount(tree *vfs.FS) error {
	return Bind(tree, "available_filter_functions", ctl.Print(functions))
}

// Bind makes a file with a name in both directories.
//
// Errors: those of vfs.FS.Bind.
func Bind(tree *vfs.FS, name string, n vfs.Node) (err error) {
	for _, dir := range Dirs {
		err = errors.Join(err, tree.Bind(dir+"/"+name, n))
	}
	return err
}

// functions prints the names by which functions can be probed.
func functions(w io.Writer) {
	if table := kallsyms.Kernel(); table != nil {
		table.WriteFunctions(w)
	}
}
