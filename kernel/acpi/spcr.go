package acpi

// SPCR is the Serial Port Console Redirection table: the serial line that firmware uses.
type SPCR struct {
	Found bool // and it is one of the 16550 kind
	Base  Register
	IRQ   uint8  // of the legacy interrupts; 0: none
	Baud  uint32 // 0: leave it as firmware has set it
}

// Stride is how far a register is from the next, in bytes.
func (s *SPCR) Stride() uint8 { return max(s.Base.Width/8, 1) }

// parse reads the table.
//
// Source: Microsoft, "Serial Port Console Redirection Table (SPCR)".
func (s *SPCR) parse(t table) {
	const least = 80
	if s.Found || t.len < least {
		return
	}
	const full16550, subset16550, anyway16550 = 0, 1, 0x12
	const viaPIC = 1 << 0
	kind, base := t.u8(36), t.reg(40)
	if kind != full16550 && kind != subset16550 && kind != anyway16550 || !base.Present() || base.Space > SpaceIO {
		return
	}
	s.Found, s.Base = true, base
	if t.u8(52)&viaPIC != 0 {
		s.IRQ = t.u8(53)
	}
	switch t.u8(58) {
	case 3:
		s.Baud = 9600
	case 4:
		s.Baud = 19200
	case 6:
		s.Baud = 57600
	case 7:
		s.Baud = 115200
	}
}
