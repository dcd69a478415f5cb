package syscall

import (
	sys "syscall"

	"sonde/kernel/proc"
)

// Calls about what no file and no machine here has. They say so as Linux does where
// that is not configured, which programs expect, and not by ENOSYS.

// xattr is about extended attributes, of the file at a path.
func xattr(t *proc.Thread, a *Args) (uint64, error) {
	if _, err := infoAt(t, cwd, a[0], 0); err != nil {
		return 0, err
	}
	return 0, sys.EOPNOTSUPP
}

// fxattr is xattr of an open file.
func fxattr(t *proc.Thread, a *Args) (uint64, error) {
	if _, err := fileOf(t, a[0]); err != nil {
		return 0, err
	}
	return 0, sys.EOPNOTSUPP
}
