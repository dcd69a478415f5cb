package amd64

// Bits of MSR_APIC_BASE.
const (
	APIC_EXTD = 1 << 10 // x2APIC mode: the registers are MSRs, not memory
	APIC_EN   = 1 << 11
)

// X2APIC reports whether the local APIC whose MSR_APIC_BASE is base is in x2APIC mode. The kernel
// stays in the mode that firmware has chosen: leaving it may be locked, and APIC ids may be too
// long for the other mode.
func X2APIC(base uint64) bool { return base&APIC_EN != 0 && base&APIC_EXTD != 0 }

// EnableAPIC returns the values to write to MSR_APIC_BASE, in order, when it is base, so that the
// local APIC is on, in x2APIC mode or not. It must be on before it can enter that mode, and off in
// between to leave it.
//
// Source: Intel SDM vol. 3A, "x2APIC State Transitions".
func EnableAPIC(base uint64, x2 bool) (writes [2]uint64) {
	off := base &^ (APIC_EN | APIC_EXTD)
	switch {
	case x2:
		return [2]uint64{base | APIC_EN, base | APIC_EN | APIC_EXTD}
	case X2APIC(base):
		return [2]uint64{off, off | APIC_EN}
	}
	return [2]uint64{off | APIC_EN, off | APIC_EN}
}

// X2Register returns the MSR that holds the register at offset reg of an xAPIC's page.
func X2Register(reg uint32) uint32 { return MSR_X2APIC + reg>>4 }

// X2Command returns the value of the interrupt command register, one MSR in x2APIC mode.
func X2Command(apic, command uint32) uint64 { return uint64(apic)<<32 | uint64(command) }
