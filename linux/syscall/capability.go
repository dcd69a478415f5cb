package syscall

import (
	sys "syscall"

	"sonde/linux/proc"
)

// Versions of the structures of capget and capset.
//
// Source: Linux, capget(2).
const capVersion1, capVersion2, capVersion3 = 0x19980330, 0x20071026, 0x20080522

// lastCapability is CAP_CHECKPOINT_RESTORE.
const lastCapability = 40

// allCapabilities is what every process has: it is root.
var allCapabilities = [2]uint32{^uint32(0), 1<<(lastCapability+1-32) - 1}

// Capabilities that calls ask for.
//
// Source: Linux, capabilities(7).
const (
	capSetGID  = 6
	capSetUID  = 7
	capSystem  = 21
	capPerfMon = 38
	capBPF     = 39
)

// mayUse refuses what t has no capability for.
//
// Errors: EPERM.
func mayUse(t *proc.Thread, capability uint) error {
	if !capable(t, 0, capability, 0) {
		return sys.EPERM
	}
	return nil
}

// capable reports whether t has a capability. Its arguments are those of Linux's cap_capable, by which name scripts
// probe it. There is one namespace, and no option.
//
//go:noinline
func capable(_ *proc.Thread, _ uintptr, capability, _ uint) bool {
	return capability <= lastCapability && allCapabilities[capability/32]>>(capability%32)&1 != 0
}

// capSet is a word of each set, in the structure's order.
type capSet struct{ Effective, Permitted, Inheritable uint32 }

// capHeader decodes the header of capget and capset: whose sets they are, and of how many words. A
// version that does not exist is replaced by the newest, and 0 words are returned.
//
// Errors: EFAULT.
func capHeader(t *proc.Thread, addr uint64) (pid, words int, err error) {
	h, err := get[struct {
		Version uint32
		PID     int32
	}](t, addr)
	if err != nil {
		return 0, 0, err
	}
	switch h.Version {
	case capVersion1:
		words = 1
	case capVersion2, capVersion3:
		words = 2
	default:
		err = put(t, addr, uint32(capVersion3))
	}
	return int(h.PID), words, err
}

// capget returns all capabilities.
func capget(t *proc.Thread, a *Args) (uint64, error) {
	pid, words, err := capHeader(t, a[0])
	switch {
	case err != nil || words == 0 && a[1] == 0:
		return 0, err
	case words == 0 || pid < 0:
		return 0, sys.EINVAL
	}
	if _, err := other(t, uint64(pid)); err != nil {
		return 0, err
	}
	for i := range words {
		w := capSet{Effective: allCapabilities[i], Permitted: allCapabilities[i]}
		if err := putIf(t, offset(a[1], uint64(12*i)), w); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// capset lets a program set what it has. A capability cannot be given up here, which is EPERM.
func capset(t *proc.Thread, a *Args) (uint64, error) {
	pid, words, err := capHeader(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case words == 0:
		return 0, sys.EINVAL
	case pid != 0 && pid != t.TID:
		return 0, sys.EPERM
	}
	sets, err := getSlice[capSet](t, a[1], words)
	if err != nil {
		return 0, err
	}
	for i, s := range sets {
		if s.Effective&allCapabilities[i] != allCapabilities[i] || s.Permitted&allCapabilities[i] != allCapabilities[i] {
			return 0, sys.EPERM
		}
	}
	return 0, nil
}
