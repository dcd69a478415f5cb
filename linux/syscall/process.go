package syscall

import (
	"math"
	"slices"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

func exit(t *proc.Thread, a *Args) (uint64, error) {
	t.Leave(asInt(a[0]))
	return 0, nil
}

func exitGroup(t *proc.Thread, a *Args) (uint64, error) {
	t.Exit(asInt(a[0]))
	return 0, nil
}

func getpid(t *proc.Thread, _ *Args) (uint64, error) { return uint64(t.Process().PID), nil }

func getppid(t *proc.Thread, _ *Args) (uint64, error) { return uint64(t.Process().Parent()), nil }

func gettid(t *proc.Thread, _ *Args) (uint64, error) { return uint64(t.TID), nil }

// getid returns the user and group of every process: root.
func getid(*proc.Thread, *Args) (uint64, error) { return 0, nil }

// setids accepts only root's ids.
func setids(n int, capability uint) func(*proc.Thread, *Args) (uint64, error) {
	return func(t *proc.Thread, a *Args) (uint64, error) {
		for _, id := range a[:n] {
			if id := uint32(id); id != 0 && id != ^uint32(0) {
				return 0, sys.EPERM
			}
		}
		return 0, mayUse(t, capability)
	}
}

// setfsid sets no id, and returns root's, which was there before.
func setfsid(*proc.Thread, *Args) (uint64, error) { return 0, nil }

// getids stores three ids.
func getids(t *proc.Thread, a *Args) (uint64, error) {
	for _, addr := range a[:3] {
		if err := put(t, addr, uint32(0)); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// mostGroups is how many supplementary groups a process may have.
const mostGroups = 65536

// setgroups keeps a process's supplementary groups, which have no effect.
func setgroups(t *proc.Thread, a *Args) (uint64, error) {
	n := uint32(a[0])
	if err := mayUse(t, capSetGID); err != nil {
		return 0, err
	}
	if n > mostGroups {
		return 0, sys.EINVAL
	}
	groups, err := getSlice[uint32](t, a[1], int(n))
	if err != nil {
		return 0, err
	}
	if slices.Contains(groups, ^uint32(0)) {
		return 0, sys.EINVAL
	}
	slices.Sort(groups)
	t.Process().SetGroups(groups)
	return 0, nil
}

// getgroups returns them, and how many they are.
func getgroups(t *proc.Thread, a *Args) (uint64, error) {
	groups, room := t.Process().Groups(), int32(a[0])
	if room < 0 || room > 0 && int(room) < len(groups) {
		return 0, sys.EINVAL
	}
	for i, g := range groups[:min(int(room), len(groups))] {
		if err := put(t, a[1]+uint64(4*i), g); err != nil {
			return 0, err
		}
	}
	return uint64(len(groups)), nil
}

// other returns the process with that number, t's own for 0.
func other(t *proc.Thread, pid uint64) (*proc.Process, error) {
	if asInt(pid) == 0 {
		return t.Process(), nil
	}
	return t.Process().Table().Find(asInt(pid))
}

func setpgid(t *proc.Thread, a *Args) (uint64, error) {
	return done(t.Process().SetGroup(asInt(a[0]), asInt(a[1])))
}

func getpgid(_ *proc.Thread, p *proc.Process, _ *Args) (uint64, error) {
	g, _ := p.Group()
	return uint64(g), nil
}

func getsid(_ *proc.Thread, p *proc.Process, _ *Args) (uint64, error) {
	_, s := p.Group()
	return uint64(s), nil
}

func setsid(t *proc.Thread, _ *Args) (uint64, error) {
	id, err := t.Process().NewSession()
	return uint64(id), err
}

func setTIDAddress(t *proc.Thread, a *Args) (uint64, error) {
	t.SetClearTID(a[0])
	return uint64(t.TID), nil
}

func setRobustList(t *proc.Thread, a *Args) (uint64, error) {
	if a[1] != uint64(len(abi.Bytes(new(abi.RobustListHead)))) {
		return 0, sys.EINVAL
	}
	t.SetRobustList(a[0])
	return 0, nil
}

func archPrctl(t *proc.Thread, a *Args) (uint64, error) {
	fs, gs := t.CPU().Bases()
	const userEnd = 1 << 47
	switch a[0] {
	case abi.ARCH_SET_FS, abi.ARCH_SET_GS:
		if a[1] >= userEnd {
			return 0, sys.EPERM
		}
		if a[0] == abi.ARCH_SET_FS {
			*fs = a[1]
		} else {
			*gs = a[1]
		}
		return 0, nil
	case abi.ARCH_GET_FS:
		return done(put(t, a[1], *fs))
	case abi.ARCH_GET_CPUID:
		return 1, nil // programs may use CPUID
	case abi.ARCH_SET_CPUID:
		return 0, sys.ENODEV
	case abi.ARCH_GET_GS:
		return done(put(t, a[1], *gs))
	}
	return 0, sys.EINVAL
}

// nameSize is how many bytes PR_GET_NAME writes.
const nameSize = 16

func prctl(t *proc.Thread, a *Args) (uint64, error) {
	p := t.Process()
	switch a[0] {
	case abi.PR_SET_NAME:
		name, err := t.Memory().CString(a[1], nameSize)
		if errnoIs(err, sys.ENAMETOOLONG) {
			b := make([]byte, nameSize-1)
			err = t.Memory().In(b, a[1])
			name = string(b)
		}
		if err == nil {
			p.SetName(name)
		}
		return 0, err
	case abi.PR_GET_NAME:
		var b [nameSize]byte
		copy(b[:], p.Name())
		return done(put(t, a[1], b))
	case abi.PR_SET_PDEATHSIG:
		if a[1] > abi.SIGMAX {
			return 0, sys.EINVAL
		}
		p.SetDeathSignal(int(a[1]))
		return 0, nil
	case abi.PR_GET_PDEATHSIG:
		return done(put(t, a[1], int32(p.DeathSignal())))
	case abi.PR_SET_CHILD_SUBREAPER:
		p.SetSubreaper(a[1] != 0)
		return 0, nil
	case abi.PR_GET_CHILD_SUBREAPER:
		return done(put(t, a[1], int32(b2u(p.Subreaper()))))
	case abi.PR_GET_DUMPABLE:
		return b2u(t.Memory().Dumpable()), nil
	case abi.PR_SET_DUMPABLE:
		if a[1] > 1 {
			return 0, sys.EINVAL
		}
		t.Memory().SetDumpable(a[1] == 1)
		return 0, nil
	case abi.PR_SET_KEEPCAPS: // nothing depends on it
		return 0, nil
	case abi.PR_GET_NO_NEW_PRIVS, abi.PR_GET_KEEPCAPS:
		return 0, nil
	case abi.PR_SET_TIMERSLACK:
		t.SetSlack(a[1])
		return 0, nil
	case abi.PR_GET_TIMERSLACK:
		return t.RawSlack(), nil
	case abi.PR_CAPBSET_READ:
		if a[1] > 40 {
			return 0, sys.EINVAL
		}
		return 1, nil
	case abi.PR_GET_TSC:
		return done(put(t, a[1], int32(abi.PR_TSC_ENABLE+b2u(t.CPU().TSCDenied()))))
	case abi.PR_SET_TSC:
		if a[1] != abi.PR_TSC_ENABLE && a[1] != abi.PR_TSC_SIGSEGV {
			return 0, sys.EINVAL
		}
		t.CPU().DenyTSC(a[1] == abi.PR_TSC_SIGSEGV)
		return 0, nil
	case abi.PR_SET_NO_NEW_PRIVS: // there are no privileges to gain
		return 0, nil
	}
	return 0, sys.EINVAL
}

func errnoIs(err error, e sys.Errno) bool { return err != nil && errnoOf(err) == e }

func wait4(t *proc.Thread, a *Args) (uint64, error) {
	options := int(uint32(a[2])) // __WCLONE is the highest bit
	if options&^(abi.WNOHANG|abi.WUNTRACED|abi.WCONTINUED|abi.WNOTHREAD|abi.WALL|abi.WCLONE) != 0 {
		return 0, sys.EINVAL
	}
	if int32(a[0]) == math.MinInt32 {
		return 0, sys.ESRCH // the group's number is not visible to the caller
	}
	c, err := t.Process().Wait(whichOf(asInt(a[0])), options|abi.WEXITED, t.Cancel)
	if err != nil || c.PID == 0 {
		return 0, err
	}
	if err := putIf(t, a[1], uint32(c.Status)); err != nil {
		return 0, err
	}
	if err := putIf(t, a[3], rusageOf(c.Usage)); err != nil {
		return 0, err
	}
	return uint64(c.PID), nil
}

// whichOf decodes wait4's first argument.
func whichOf(pid int) proc.Which {
	switch {
	case pid > 0:
		return proc.Which{Kind: abi.P_PID, ID: pid}
	case pid == 0:
		return proc.Which{Kind: abi.P_PGID}
	case pid == -1:
		return proc.Which{Kind: abi.P_ALL}
	}
	return proc.Which{Kind: abi.P_PGID, ID: -pid}
}

func waitid(t *proc.Thread, a *Args) (uint64, error) {
	which, options := proc.Which{Kind: asInt(a[0]), ID: asInt(a[1])}, int(uint32(a[3]))
	news := options & (abi.WEXITED | abi.WSTOPPED | abi.WCONTINUED)
	if news == 0 || options&^(news|abi.WNOHANG|abi.WNOWAIT|abi.WNOTHREAD|abi.WALL|abi.WCLONE) != 0 {
		return 0, sys.EINVAL
	}
	switch which.Kind {
	case abi.P_ALL, abi.P_PID, abi.P_PGID:
	case abi.P_PIDFD:
		return waitPidFile(t, a, options)
	default:
		return 0, sys.EINVAL
	}
	_, err := waitFor(t, a, which, options)
	return 0, err
}

// waitFor is waitid after decoding its first arguments.
func waitFor(t *proc.Thread, a *Args, which proc.Which, options int) (proc.Change, error) {
	c, err := t.Process().Wait(which, options, t.Cancel)
	if err != nil {
		return c, err
	}
	var info abi.Siginfo
	if c.PID != 0 {
		info.Signo, info.Code = abi.SIGCHLD, c.Code
		user, system := c.Usage.Ticks()
		info.SetChild(uint32(c.PID), 0, c.Value(), user, system)
	}
	if err := putIf(t, a[2], info); err != nil {
		return c, err
	}
	return c, putIf(t, a[4], rusageOf(c.Usage))
}

func rusageOf(u proc.Usage) abi.Rusage {
	return abi.Rusage{
		User: abi.TimevalOf(u.User), System: abi.TimevalOf(u.System),
		MinorFaults: u.Faults, VoluntarySwitches: u.Sleeps,
	}
}

func getrusage(t *proc.Thread, a *Args) (uint64, error) {
	self, children := t.Process().Usage()
	switch asInt(a[0]) {
	case abi.RUSAGE_SELF:
		return done(put(t, a[1], rusageOf(self)))
	case abi.RUSAGE_CHILDREN:
		return done(put(t, a[1], rusageOf(children)))
	case abi.RUSAGE_THREAD:
		return done(put(t, a[1], rusageOf(t.Usage())))
	}
	return 0, sys.EINVAL
}

func prlimit64(t *proc.Thread, p *proc.Process, a *Args) (uint64, error) {
	set, ok, err := getIf[abi.Rlimit](t, a[2])
	if err != nil {
		return 0, err
	}
	old, err := p.Limit(asInt(a[1]))
	if err == nil && ok {
		err = p.SetLimit(asInt(a[1]), set)
	}
	if err != nil {
		return 0, err
	}
	return done(putIf(t, a[3], old))
}

func getrlimit(t *proc.Thread, a *Args) (uint64, error) {
	return prlimit64(t, t.Process(), &Args{0, a[0], 0, a[1]})
}

func setrlimit(t *proc.Thread, a *Args) (uint64, error) {
	return prlimit64(t, t.Process(), &Args{0, a[0], a[1], 0})
}
