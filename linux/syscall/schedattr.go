package syscall

import (
	"cmp"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// schedAttr is struct sched_attr.
//
// Source: Linux, uapi/linux/sched/types.h.
type schedAttr struct {
	Size, Policy              uint32
	Flags                     uint64
	Nice                      int32
	Priority                  uint32
	Runtime, Deadline, Period uint64
	UtilMin, UtilMax          uint32
}

// Sizes of a sched_attr: the first version, and the current one.
const (
	schedAttrFirst = 48
	schedAttrSize  = 56
)

// Flags of a sched_attr.
const (
	attrResetOnFork = 1
	attrKeepPolicy  = 8
	attrKeepParams  = 0x10
	attrFlags       = 0x7f
)

// attrAt copies a sched_attr from the program; the structure contains its length.
//
// Errors: EINVAL; E2BIG for one with unknown fields that are not zero, after storing the known
// size; EFAULT.
func attrAt(t *proc.Thread, addr uint64) (v schedAttr, err error) {
	size, err := get[uint32](t, addr)
	if err != nil {
		return v, err
	}
	if size == 0 {
		size = schedAttrFirst
	}
	if size < schedAttrFirst || size > space.PageSize {
		return v, tooBigAttr(t, addr)
	}
	if err := structAt(t, abi.Bytes(&v), addr, uint64(size)); errnoIs(err, sys.E2BIG) {
		return v, tooBigAttr(t, addr)
	} else if err != nil {
		return v, err
	}
	v.Nice = max(-20, min(v.Nice, 19))
	return v, nil
}

func tooBigAttr(t *proc.Thread, addr uint64) error {
	return cmp.Or[error](put(t, addr, uint32(schedAttrSize)), sys.E2BIG)
}

// structAt copies a structure from the program, where it is size bytes long: missing fields become
// zero.
//
// Errors: E2BIG for a longer one whose rest is not zero; EFAULT.
func structAt(t *proc.Thread, dst []byte, addr, size uint64) error {
	if size > uint64(len(dst)) {
		rest := make([]byte, size-uint64(len(dst)))
		if err := t.Memory().In(rest, addr+uint64(len(dst))); err != nil {
			return err
		}
		for _, b := range rest {
			if b != 0 {
				return sys.E2BIG
			}
		}
	}
	return t.Memory().In(dst[:min(size, uint64(len(dst)))], addr)
}

// schedSetattr is sched_setscheduler and setpriority in one call. SCHED_DEADLINE is stored and
// shown, without effect, as the other policies are.
//
// Source: Linux, sched_setattr(2).
func schedSetattr(t *proc.Thread, a *Args) (uint64, error) {
	if a[1] == 0 || asInt(a[0]) < 0 || a[2]&0xffffffff != 0 {
		return 0, sys.EINVAL
	}
	v, err := attrAt(t, a[1])
	if err != nil {
		return 0, err
	}
	if int32(v.Policy) < 0 || v.Flags&^attrFlags != 0 {
		return 0, sys.EINVAL
	}
	of, err := scheduled(t, a[0])
	if err != nil {
		return 0, err
	}
	old := of.Policy()
	p := proc.Policy{
		Kind: int32(v.Policy), Priority: int32(v.Priority), Reset: v.Flags&attrResetOnFork != 0,
		Runtime: v.Runtime, Deadline: v.Deadline, Period: v.Period,
	}
	if v.Flags&attrKeepPolicy != 0 {
		p.Kind = old.Kind
	}
	if v.Flags&attrKeepParams != 0 {
		old.Kind, old.Reset = p.Kind, p.Reset
		p, v.Nice = old, int32(of.Nice())
	}
	if err := validPolicy(p); err != nil {
		return 0, err
	}
	of.SetPolicy(p)
	if p.Kind == proc.SchedOther || p.Kind == proc.SchedBatch {
		return done(t.SetNiceness(abi.PRIO_PROCESS, of.TID, int(v.Nice)))
	}
	return 0, nil
}

// validPolicy refuses policies that Linux refuses.
//
// Source: Linux, sched(7).
func validPolicy(p proc.Policy) error {
	highest, lowest, err := priorities(uint64(p.Kind))
	if err != nil || p.Priority < int32(lowest) || p.Priority > int32(highest) {
		return sys.EINVAL
	}
	if p.Kind != proc.SchedDeadline {
		return nil
	}
	const least = 1 << 10 // nanoseconds
	period := p.Period
	if period == 0 {
		period = p.Deadline
	}
	if p.Runtime < least || p.Runtime > p.Deadline || p.Deadline > period || period>>63 != 0 {
		return sys.EINVAL
	}
	return nil
}

func schedGetattr(t *proc.Thread, a *Args) (uint64, error) {
	size := a[2] & 0xffffffff
	if a[1] == 0 || asInt(a[0]) < 0 || size < schedAttrFirst || size > space.PageSize || a[3]&0xffffffff != 0 {
		return 0, sys.EINVAL
	}
	of, err := scheduled(t, a[0])
	if err != nil {
		return 0, err
	}
	p := of.Policy()
	v := schedAttr{Size: uint32(min(size, schedAttrSize)), Policy: uint32(p.Kind), UtilMax: 1024}
	if p.Reset {
		v.Flags = attrResetOnFork
	}
	switch p.Kind {
	case proc.SchedDeadline:
		v.Runtime, v.Deadline, v.Period = p.Runtime, p.Deadline, p.Period
		if v.Period == 0 {
			v.Period = v.Deadline
		}
	case proc.SchedFIFO, proc.SchedRR:
		v.Priority = uint32(p.Priority)
	default:
		v.Nice = int32(of.Nice())
	}
	return done(t.Memory().Out(a[1], abi.Bytes(&v)[:v.Size]))
}
