package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/sysctl"
)

// roundRobinMS is the time slice of a thread with SCHED_RR in Linux, in milliseconds.
const roundRobinMS = 100

var _ = sysctl.NewFact("kernel.sched_rr_timeslice_ms", func() string { return "100" }, "milliseconds in the time slice of a SCHED_RR thread")

// resetOnFork is SCHED_RESET_ON_FORK.
const resetOnFork = 0x40000000

// scheduled is threadOf for the calls about policies.
//
// Errors: EINVAL, ESRCH.
func scheduled(t *proc.Thread, tid uint64) (*proc.Thread, error) {
	if asInt(tid) < 0 {
		return nil, sys.EINVAL
	}
	return threadOf(t, tid)
}

func schedSetscheduler(t *proc.Thread, a *Args) (uint64, error) {
	policy := asInt(a[1])
	if policy < 0 {
		return 0, sys.EINVAL
	}
	return 0, setPolicy(t, a[0], a[2], func(proc.Policy) proc.Policy {
		return proc.Policy{Kind: int32(policy &^ resetOnFork), Reset: policy&resetOnFork != 0}
	})
}

// schedSetparam changes the priority and keeps the policy.
func schedSetparam(t *proc.Thread, a *Args) (uint64, error) {
	return 0, setPolicy(t, a[0], a[1], func(p proc.Policy) proc.Policy { return p })
}

// setPolicy sets the thread's policy to what policy returns for the current one, with the priority
// at addr.
//
// Errors: EINVAL, EFAULT, ESRCH.
func setPolicy(t *proc.Thread, tid, addr uint64, policy func(proc.Policy) proc.Policy) error {
	if addr == 0 || asInt(tid) < 0 {
		return sys.EINVAL
	}
	priority, err := get[int32](t, addr)
	if err != nil {
		return err
	}
	old, err := policyOf(t, tid)
	if err != nil {
		return err
	}
	p := policy(old)
	p.Priority = priority
	if err := validPolicy(p); err != nil {
		return err
	}
	of, err := scheduled(t, tid)
	if err != nil {
		return err
	}
	of.SetPolicy(p)
	return nil
}

// policyOf returns the policy of a thread; for a process that has ended and has not been waited
// for, that of its first thread.
//
// Errors: as scheduled.
func policyOf(t *proc.Thread, tid uint64) (proc.Policy, error) {
	of, err := scheduled(t, tid)
	if err == nil {
		return of.Policy(), nil
	}
	if p, e := t.Process().Table().Find(asInt(tid)); e == nil && errnoIs(err, sys.ESRCH) {
		return p.LastPolicy(), nil
	}
	return proc.Policy{}, err
}

func schedGetscheduler(t *proc.Thread, p proc.Policy, a *Args) (uint64, error) {
	if p.Reset {
		return uint64(p.Kind) | resetOnFork, nil
	}
	return uint64(p.Kind), nil
}

func schedGetparam(t *proc.Thread, a *Args) (uint64, error) {
	if a[1] == 0 {
		return 0, sys.EINVAL
	}
	p, err := policyOf(t, a[0])
	if err != nil {
		return 0, err
	}
	return done(put(t, a[1], p.Priority))
}

// schedRRGetInterval returns Linux's time slice for SCHED_RR, and 0 for other policies, whose time
// is not counted.
func schedRRGetInterval(t *proc.Thread, p proc.Policy, a *Args) (uint64, error) {
	var slice abi.Timespec
	if p.Kind == proc.SchedRR {
		slice.Nsec = roundRobinMS * 1e6
	}
	return done(put(t, a[1], slice))
}
