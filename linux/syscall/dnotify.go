package syscall

import (
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// dirEvents are the events of F_NOTIFY by those of watches. A rename within the directory is DN_RENAME, and what the
// two halves of it are.
//
// Source: Linux, fcntl(2), "File and directory change notification".
var dirEvents = []struct {
	dn uint64
	in uint32
}{
	{abi.DN_ACCESS, abi.IN_ACCESS},
	{abi.DN_MODIFY, abi.IN_MODIFY},
	{abi.DN_CREATE, abi.IN_CREATE | abi.IN_MOVED_TO},
	{abi.DN_DELETE, abi.IN_DELETE | abi.IN_MOVED_FROM},
	{abi.DN_RENAME, vfs.RenamedWithin},
	{abi.DN_ATTRIB, abi.IN_ATTRIB},
}

// notifyDir serves F_NOTIFY.
//
// Errors: ENOTDIR.
func notifyDir(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	var events uint32
	for _, e := range dirEvents {
		if a[2]&e.dn != 0 {
			events |= e.in
		}
	}
	if events == 0 {
		f.NotifyEntries(0, false, 0) // of what is no directory, there is nothing to end
		return 0, nil
	}
	if err := f.NotifyEntries(events, a[2]&abi.DN_MULTISHOT == 0, asInt(a[0])); err != nil {
		return 0, err
	}
	f.SetOwner(ownSelf(t))
	return 0, nil
}
