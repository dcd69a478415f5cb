package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/event"
	"sonde/linux/proc"
)

func inotifyInit1(t *proc.Thread, a *Args) (uint64, error) {
	flags := asInt(a[0])
	if flags&^(abi.O_CLOEXEC|abi.O_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	f, err := event.NewInotify(flags)
	if err != nil {
		return 0, err
	}
	return install(t, f, flags&abi.O_CLOEXEC != 0)
}

func inotifyAddWatch(t *proc.Thread, a *Args) (uint64, error) {
	mask := uint32(a[2])
	if mask&abi.IN_ALL_BITS == 0 {
		return 0, sys.EINVAL
	}
	_, err := fileOf(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case mask&abi.IN_MASK_ADD != 0 && mask&abi.IN_MASK_CREATE != 0:
		return 0, sys.EINVAL
	}
	i, err := fileAs[*event.Inotify](t, a[0])
	if err != nil {
		return 0, err
	}
	dir, path, err := where(t, cwd, a[1])
	if err != nil {
		return 0, err
	}
	at, err := vfs.Root.PlaceAt(dir, path, mask&abi.IN_DONT_FOLLOW == 0, mask&abi.IN_ONLYDIR != 0)
	if err != nil {
		return 0, err
	}
	n, err := i.Add(at, mask)
	return uint64(n), err
}

func inotifyRmWatch(t *proc.Thread, i *event.Inotify, a *Args) (uint64, error) {
	return done(i.Remove(asInt(a[1])))
}
