package amd64

// Selectors of the GDT. SYSRET computes the user's SS and CS from one MSR field, so user data must
// come just below user code.
const (
	SelKernelCode = 0x08
	SelKernelData = 0x10
	SelUserData   = 0x18 | 3
	SelUserCode   = 0x20 | 3
	SelTSS        = 0x28 // two slots
	SelCPU        = 0x38 | 3
	GDTSlots      = 8
)

// STAR is the value of MSR_STAR that goes with the selectors above.
const STAR = (SelUserData-8)<<48 | SelKernelCode<<32

// Access byte and flags of a segment descriptor, at their place in the word.
const (
	descP     = 1 << 47
	descS     = 1 << 44 // code or data, not a system segment
	descExec  = 1 << 43
	descRW    = 1 << 41 // code: readable, data: writable
	descA     = 1 << 40
	descL     = 1 << 53
	descDB    = 1 << 54
	descG     = 1 << 55
	descFlat  = 0xf_0000_0000_ffff // limit field all ones
	descTSS   = 9 << 40            // available 64-bit TSS
	descDPLAt = 45
)

// The accessed bit is set from the start: the GDT is read-only later, and the
// processor would fault on setting it.
const descCommon = descP | descS | descRW | descA | descG | descFlat

// CodeDesc returns a 64-bit code segment.
func CodeDesc(dpl uint8) uint64 { return descCommon | descExec | descL | uint64(dpl&3)<<descDPLAt }

// DataDesc returns a flat data segment.
func DataDesc(dpl uint8) uint64 { return descCommon | descDB | uint64(dpl&3)<<descDPLAt }

// CPUDesc returns a segment of which programs read only the limit, by LSL: the number of the CPU.
func CPUDesc(id uint32) uint64 { return descP | descS | descA | 3<<descDPLAt | uint64(uint16(id)) }

// TSSDesc returns the two words of the descriptor of a TSS; limit is its size
// less one.
func TSSDesc(base uint64, limit uint32) (lo, hi uint64) {
	lo = descP | descTSS |
		uint64(limit&0xffff) | uint64(limit>>16&0xf)<<48 |
		base&0xff_ffff<<16 | base>>24&0xff<<56
	return lo, base >> 32
}

// GateType is the type field of an IDT gate.
type GateType uint8

const (
	GateInterrupt GateType = 0xe // clears IF on entry
	GateTrap      GateType = 0xf
)

// Gate is an IDT entry in memory. The zero Gate is not present.
type Gate struct{ Lo, Hi uint64 }

// MakeGate returns the gate that enters sel:offset. An ist of 1 to 7 switches to that stack of the
// TSS, 0 does not; INT n from a ring above dpl faults.
func MakeGate(offset uint64, sel uint16, ist uint8, typ GateType, dpl uint8) Gate {
	return Gate{
		Lo: descP | offset&0xffff | uint64(sel)<<16 | uint64(ist&7)<<32 |
			uint64(typ&0xf)<<40 | uint64(dpl&3)<<descDPLAt | offset>>16&0xffff<<48,
		Hi: offset >> 32,
	}
}

// Offset returns the address the gate enters.
func (g Gate) Offset() uint64 { return g.Lo&0xffff | g.Lo>>48<<16 | g.Hi<<32 }
