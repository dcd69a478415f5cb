package pci

// Config reads the word at an offset of a function's configuration space, in bytes.
type Config func(offset int) uint32

// U32 reads the word at at, 0 after the end: a capability may say that it is longer.
func (c Config) U32(at int) uint32 {
	if at >= ConfigSize {
		return 0
	}
	return c(at)
}

// U16 reads two bytes at a multiple of 2, and U8 one.
func (c Config) U16(at int) uint16 { return uint16(c.U32(at&^3) >> (at & 2 * 8)) }
func (c Config) U8(at int) uint8   { return uint8(c.U32(at&^3) >> (at & 3 * 8)) }

// How many there are of each, at most.
const Buses, Slots, Functions = 256, 32, 8

// Nothing is the vendor of a function that is not there.
const Nothing = 0xffff

// Sizes of a configuration space, in bytes.
const (
	HeaderSize = 0x40
	ConfigSize = 0x100
)

// Registers, as offsets in bytes, and their bits.
const (
	CommandAt, StatusAt, CapsAt, IRQAt = 0x04, 0x06, 0x34, 0x3c

	DecodeIO, DecodeMemory, BusMaster, DisableINTx = 1 << 0, 1 << 1, 1 << 2, 1 << 10

	capsInStatus = 1 << 4
)

// Capabilities that drivers look for.
//
// Source: PCI Code and ID Assignment Specification 1.11, "Capability IDs".
const CapMSI, CapMSIX = 0x05, 0x11

// HeaderType is 0 of a device, 1 of a bridge, 2 of a bridge to CardBus.
func (c Config) HeaderType() uint8 { return c.U8(0x0e) & 0x7f }

// EachCap calls f with the offset of each capability until that returns false. If the list is a
// loop, it returns where that closes, otherwise 0.
func (c Config) EachCap(f func(at int) bool) (looped int) {
	if c.U16(StatusAt)&capsInStatus == 0 || c.HeaderType() > 1 {
		return 0
	}
	var seen [ConfigSize]bool
	at := int(c.U8(CapsAt) &^ 3)
	for at != 0 && !seen[at] {
		seen[at] = true
		if !f(at) {
			return 0
		}
		at = int(c.U8(at+1) &^ 3)
	}
	return at
}

// Find returns the offset of the first capability of a kind, 0 if there is none.
func (c Config) Find(id uint8) (found int) {
	c.EachCap(func(at int) bool {
		if c.U8(at) == id {
			found = at
		}
		return found == 0
	})
	return found
}
