package xhci

// Registers, as offsets in bytes from the beginning of their group, and their bits.
//
// Source: eXtensible Host Controller Interface for Universal Serial Bus 1.2, "Register Interface"; the names are its.
const (
	// Capabilities: what the controller is.
	CAPLENGTH  = 0x00
	HCSPARAMS1 = 0x04
	HCSPARAMS2 = 0x08
	HCCPARAMS1 = 0x10
	DBOFF      = 0x14
	RTSOFF     = 0x18

	AC64 = 1 << 0 // of HCCPARAMS1: addresses have 64 bits
	CSZ  = 1 << 2 // contexts have 64 bytes

	// Operation, after CAPLENGTH bytes.
	USBCMD   = 0x00
	USBSTS   = 0x04
	PAGESIZE = 0x08
	CRCR     = 0x18
	DCBAAP   = 0x30
	CONFIG   = 0x38
	PORTSC   = 0x400 // of port 1; the next is portBytes after

	portBytes = 0x10

	RunStop = 1 << 0 // of USBCMD
	HCRST   = 1 << 1
	INTE    = 1 << 2

	HCHalted = 1 << 0 // of USBSTS
	HSE      = 1 << 2
	EINT     = 1 << 3
	PCD      = 1 << 4
	CNR      = 1 << 11

	CCS     = 1 << 0 // of PORTSC: something is connected
	PED     = 1 << 1 // the port is enabled; writing 1 disables it
	PR      = 1 << 4 // it is being reset
	PP      = 1 << 9 // it has power
	CSC     = 1 << 17
	changes = 0x7f << 17 // CSC and the other changes, which writing 1 clears
	keep    = PP | 3<<14 | 7<<25

	// Running, at RTSOFF: the first interrupter.
	IMAN   = 0x20
	IMOD   = 0x24
	ERSTSZ = 0x28
	ERSTBA = 0x30
	ERDP   = 0x38

	pending    = 1 << 0 // of IMAN: writing 1 clears it
	enable     = 1 << 1
	EHB        = 1 << 3 // of ERDP: writing 1 clears it
	moderation = 160    // of IMOD: at most one interrupt in 40 µs, in units of 250 ns

	// Extended capabilities, a list.
	USBLEGSUP = 1 // its number
	biosOwned = 1 << 16
	osOwned   = 1 << 24

	smiEnables = 1<<0 | 1<<4 | 7<<13 // of USBLEGCTLSTS, which follows
	smiEvents  = 7 << 29
)

// Kinds of TRBs (transfer request blocks), of which rings consist.
const (
	trbNormal, trbSetup, trbData, trbStatus, trbLink = 1, 2, 3, 4, 6

	trbEnableSlot, trbDisableSlot, trbAddress, trbConfigure, trbEvaluate = 9, 10, 11, 12, 13
	trbResetEndpoint, trbStopEndpoint, trbSetDequeue                     = 14, 15, 16

	trbTransferEvent, trbCommandEvent, trbPortEvent = 32, 33, 34

	// Bits of the last word.
	cycleBit      = 1 << 0
	toggle        = 1 << 1 // of a link: the cycle changes
	onShort       = 1 << 2 // tell of a short packet
	onComplete    = 1 << 5 // tell of the end
	immediate     = 1 << 6 // the parameter is the data
	dirIn         = 1 << 16
	kindShift     = 10
	endpointShift = 16
	slotShift     = 24
)

// Completion codes.
const (
	codeSuccess, codeBabble, codeTransaction, codeStall, codeShort = 1, 3, 4, 6, 13
)
