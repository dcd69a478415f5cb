package syscall

import (
	sys "syscall"

	"sonde/linux/proc"
)

// getpriority returns 20 minus the nice value: a negative result would be an error.
func getpriority(t *proc.Thread, a *Args) (uint64, error) {
	nice, err := t.Niceness(asInt(a[0]), asInt(a[1]))
	return uint64(20 - nice), err
}

func setpriority(t *proc.Thread, a *Args) (uint64, error) {
	return done(t.SetNiceness(asInt(a[0]), asInt(a[1]), asInt(a[2])))
}

// ioprioFirst is the difference between the kinds of ioprio_get and those of getpriority.
const ioprioFirst = 1

func ioprioGet(t *proc.Thread, a *Args) (uint64, error) {
	v, err := t.IOPrio(asInt(a[0])-ioprioFirst, asInt(a[1]))
	return uint64(v), err
}

// ioprioSet takes a class in bits 13 to 15, a level in bits 0 to 2, and hints between them.
func ioprioSet(t *proc.Thread, a *Args) (uint64, error) {
	const idle = 3
	v := asInt(a[2])
	if class, level := v>>13, v&7; class < 0 || class > idle || class == 0 && level != 0 {
		return 0, sys.EINVAL
	}
	return done(t.SetIOPrio(asInt(a[0])-ioprioFirst, asInt(a[1]), v))
}
