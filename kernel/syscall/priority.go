package syscall

import "sonde/kernel/proc"

// getpriority returns 20 minus the niceness: an error would be negative.
func getpriority(t *proc.Thread, a *Args) (uint64, error) {
	nice, err := t.Niceness(asInt(a[0]), asInt(a[1]))
	return uint64(20 - nice), err
}

func setpriority(t *proc.Thread, a *Args) (uint64, error) {
	return done(t.SetNiceness(asInt(a[0]), asInt(a[1]), asInt(a[2])))
}
