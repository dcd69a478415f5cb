package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

func fork(t *proc.Thread, _ *Args) (uint64, error) { return clone(t, &Args{abi.SIGCHLD}) }

func vfork(t *proc.Thread, _ *Args) (uint64, error) {
	return clone(t, &Args{abi.CLONE_VM | abi.CLONE_VFORK | abi.SIGCHLD})
}

// clone has its arguments in the order of x86-64: flags, stack, parent's and child's TID, TLS.
func clone(t *proc.Thread, a *Args) (uint64, error) {
	c := proc.CloneArgs{
		Flags:      a[0] & 0xffffffff &^ abi.CSIGNAL,
		ExitSignal: int(a[0] & abi.CSIGNAL),
		Stack:      a[1],
		ParentTID:  a[2],
		ChildTID:   a[3],
		TLS:        a[4],
	}
	if c.Flags&(abi.CLONE_PIDFD|abi.CLONE_PARENT_SETTID) == abi.CLONE_PIDFD|abi.CLONE_PARENT_SETTID {
		return 0, sys.EINVAL // one address for both results
	}
	return cloneWith(t, c, a[2])
}

// Smallest and largest size of struct clone_args in all versions.
const cloneArgsMin, cloneArgsMax = 64, 4096

func clone3(t *proc.Thread, a *Args) (uint64, error) {
	switch {
	case a[1] < cloneArgsMin:
		return 0, sys.EINVAL
	case a[1] > cloneArgsMax:
		return 0, sys.E2BIG
	}
	var c abi.CloneArgs
	if err := structAt(t, abi.Bytes(&c), a[0], a[1]); err != nil {
		return 0, err
	}
	if c.Flags&(abi.CSIGNAL|abi.CLONE_DETACHED) != 0 || c.SetTIDSize != 0 || (c.Stack == 0) != (c.StackSize == 0) {
		return 0, sys.EINVAL
	}
	return cloneWith(t, proc.CloneArgs{
		Flags:      c.Flags,
		ExitSignal: int(min(c.ExitSignal, abi.SIGMAX+1)),
		Stack:      c.Stack + c.StackSize,
		ParentTID:  c.ParentTID,
		ChildTID:   c.ChildTID,
		TLS:        c.TLS,
	}, c.PidFD)
}

// cloneWith clones and, for CLONE_PIDFD, stores the child's pidfd.
func cloneWith(t *proc.Thread, c proc.CloneArgs, pidfd uint64) (uint64, error) {
	if c.Flags&abi.CLONE_PIDFD != 0 {
		c.Made = func(child *proc.Process) (undo func(), err error) {
			fd, err := install(t, newPidFile(child, 0), true)
			if err != nil {
				return nil, err
			}
			undo = func() { filesOf(t).Descriptors().Close(int(fd)) }
			return undo, put(t, pidfd, int32(fd))
		}
	}
	id, err := t.Clone(c)
	return uint64(id), err
}
