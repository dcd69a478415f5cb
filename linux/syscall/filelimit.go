package syscall

import (
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// mayGrow refuses to make a file longer than RLIMIT_FSIZE.
//
// Errors: EFBIG, with SIGXFSZ.
func mayGrow(t *proc.Thread, i vfs.Info, size int64) error {
	if limit, ok := t.Process().FileLimit(); ok && i.Mode.IsRegular() && size > i.Size && size > limit {
		return tooLong(t)
	}
	return nil
}

// tooLong ends a call that would make a file longer than RLIMIT_FSIZE.
func tooLong(t *proc.Thread) error {
	t.Send(proc.SignalFrom(t.Process(), abi.SIGXFSZ, abi.SI_USER))
	return vfs.ErrLimit
}
