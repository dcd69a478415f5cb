package event

import (
	"errors"
	"io"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
)

// Dirs are where the files are in which tools look for what can be probed: /sys/kernel/debug/tracing, where they
// were in the past, has the same as /sys/kernel/tracing.
var Dirs = [...]string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

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
