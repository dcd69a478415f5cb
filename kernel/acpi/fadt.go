package acpi

// Bits of the registers the FADT points to.
const (
	PM1_SCI_EN     = 1 << 0  // PM1 control: the machine is in ACPI mode
	PM1_SLP_EN     = 1 << 13 // PM1 control: go to sleep now
	SLEEP_SLP_EN   = 1 << 5  // sleep control register: go to sleep now
	pm1SlpTypShift = 10
	slpTypShift    = 2
)

// FADT is the Fixed ACPI Description Table. Registers that are absent, or
// that the flags say not to use, are zero: Writable is the only test needed before a write.
type FADT struct {
	Found        bool
	HWReduced    bool // no PM1 blocks, no PM timer, no SMI: sleep via SleepControl
	DSDT         uint64
	SMICmd       uint32   // port; write ACPIEnable to it if PM1_SCI_EN is clear
	ACPIEnable   uint8    // 0: nothing to write
	PM1a, PM1b   Register // control blocks
	PMTimer      Register
	Reset        Register // write ResetValue to it
	ResetValue   uint8
	SleepControl Register
}

// Feature flags of the table.
const (
	fadtResetRegSup = 1 << 10
	fadtHWReduced   = 1 << 20
)

func (f *FADT) parse(t table) {
	if f.Found || t.len < 116 { // the ACPI 1.0 table
		return
	}
	f.Found = true
	flags := t.u32(112)
	f.HWReduced = flags&fadtHWReduced != 0
	f.DSDT = t.u64(140)
	if f.DSDT == 0 {
		f.DSDT = uint64(t.u32(40))
	}
	if flags&fadtResetRegSup != 0 {
		f.Reset = t.reg(116)
		f.ResetValue = t.u8(128)
	}
	if f.HWReduced {
		f.SleepControl = t.reg(244)
		return
	}
	f.SMICmd = t.u32(48)
	f.ACPIEnable = t.u8(52)
	f.PM1a = t.block(172, 64, t.u8(89))
	f.PM1b = t.block(184, 68, t.u8(89))
	if t.u8(91) == 4 { // PM_TMR_LEN; 0 means there is no timer
		f.PMTimer = t.block(208, 76, 4)
	}
}

// block reads a register block: the 64-bit field at x if it is there, else
// the port number at old.
func (t table) block(x, old uint64, bytes uint8) Register {
	if r := t.reg(x); r.Addr != 0 {
		return r
	}
	port := t.u32(old)
	if port == 0 {
		return Register{}
	}
	return Register{Addr: uint64(port), Space: SpaceIO, Width: bytes * 8}
}
