package syscall

import (
	sys "syscall"

	"sonde/linux/proc"
)

// Barrier makes each CPU order its memory accesses and discard prefetched instructions. Set once at
// boot.
var Barrier = func() {}

// Commands of membarrier.
//
// Source: Linux, uapi/linux/membarrier.h.
const (
	barrierGlobal           = 1 << 0
	barrierGlobalExpedited  = 1 << 1
	registerGlobal          = 1 << 2
	barrierPrivate          = 1 << 3
	registerPrivate         = 1 << 4
	barrierPrivateSync      = 1 << 5
	registerPrivateSync     = 1 << 6
	barrierGetRegistrations = 1 << 9

	barrierAll = barrierGlobal | barrierGlobalExpedited | registerGlobal | barrierPrivate | registerPrivate |
		barrierPrivateSync | registerPrivateSync | barrierGetRegistrations
)

// membarrier orders the memory accesses of other threads. Each command interrupts all CPUs, which
// is more than some commands need: an interrupt and its IRETQ order both accesses and instructions.
//
// Source: Linux, membarrier(2).
func membarrier(t *proc.Thread, a *Args) (uint64, error) {
	cmd := uint32(a[0])
	switch {
	case uint32(a[1]) != 0 || cmd&^barrierAll != 0 || cmd&(cmd-1) != 0:
		return 0, sys.EINVAL
	case cmd == 0:
		return barrierAll, nil
	}
	m := t.Memory()
	needs := uint32(0)
	switch cmd {
	case barrierGetRegistrations:
		return uint64(m.Barriers()), nil
	case registerGlobal, registerPrivate, registerPrivateSync:
		m.RegisterBarrier(cmd)
		return 0, nil
	case barrierPrivate:
		needs = registerPrivate
	case barrierPrivateSync:
		needs = registerPrivateSync
	}
	if m.Barriers()&needs != needs {
		return 0, sys.EPERM
	}
	Barrier()
	return 0, nil
}
