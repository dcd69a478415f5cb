package pci

// Interrupts by messages: the device writes a word to an address at which no memory is, but the APICs listen.
//
// Source: PCI Local Bus Specification 3.0, "Message Signaled Interrupts"; Intel SDM vol. 3A, "Message Signalled
// Interrupts".
const (
	messageAddress = 0xfee00000 // and the APIC's number from bit 12 on

	messagesOn     = 1 << 31 // in the first word of the capability of MSI-X
	messagesMasked = 1 << 30

	messageOn    = 1 << 16 // in that of MSI
	messageCount = 7 << 20 // how many are enabled, as a power of two
	messageWide  = 1 << 23 // addresses have 64 bits
	messageMasks = 1 << 24 // there is a mask for each
)

// message makes the function whose capability MSI is at at send data to address, and nothing else.
func message(c Config, write func(offset int, v uint32), at int, address, data uint32) {
	control := c.U32(at)
	behind := at + 8
	write(at+4, address)
	if control&messageWide != 0 {
		write(at+8, 0)
		behind = at + 12
	}
	write(behind, c.U32(behind)&^0xffff|data)
	if control&messageMasks != 0 {
		write(behind+4, 0)
	}
	write(at, control&^messageCount|messageOn)
}
