package acpi

const (
	MaxCPUs      = 256
	MaxIOAPICs   = 16
	MaxOverrides = 32
)

// CPU is a local APIC. A CPU that is not Enabled must not be started.
type CPU struct {
	APIC    uint32 // local APIC id, 32 bits in x2APIC mode
	UID     uint32 // ACPI's name for it
	Enabled bool
}

// IOAPIC is an I/O APIC serving the global interrupts from GSIBase on.
type IOAPIC struct {
	ID      uint8
	Addr    uint32
	GSIBase uint32
}

// Override says that ISA interrupt IRQ arrives as global interrupt GSI.
type Override struct {
	IRQ uint8
	GSI uint32
}

// MADT is the Multiple APIC Description Table.
type MADT struct {
	Found     bool
	LAPIC     uint64 // base address
	CPUs      [MaxCPUs]CPU
	NCPU      int
	IOAPICs   [MaxIOAPICs]IOAPIC
	NIOAPIC   int
	Overrides [MaxOverrides]Override
	NOverride int
	Truncated bool // more than fits, or an entry with a bad length
}

// GSI returns where ISA interrupt irq arrives; identity unless overridden.
func (m *MADT) GSI(irq uint8) uint32 {
	for i := 0; i < m.NOverride && i < MaxOverrides; i++ {
		if m.Overrides[i].IRQ == irq {
			return m.Overrides[i].GSI
		}
	}
	return uint32(irq)
}

// Page returns the address of the page of size bytes that has the registers of I/O APIC i; first: no I/O APIC
// before it has registers there.
func (m *MADT) Page(i int, size uint64) (pa uint64, first bool) {
	pa = uint64(m.IOAPICs[i].Addr) &^ (size - 1)
	for j := range i {
		if uint64(m.IOAPICs[j].Addr)&^(size-1) == pa {
			return pa, false
		}
	}
	return pa, true
}

// Interrupt controller structures: type and least length.
const (
	madtLAPIC, madtLAPICLen         = 0, 8
	madtIOAPIC, madtIOAPICLen       = 1, 12
	madtOverride, madtOverrideLen   = 2, 10
	madtLAPICAddr, madtLAPICAddrLen = 5, 12
	madtX2APIC, madtX2APICLen       = 9, 16
)

func (m *MADT) parse(t table) {
	if m.Found || t.len < 44 {
		return
	}
	m.Found = true
	m.LAPIC = uint64(t.u32(36))
	for off := uint64(44); off < t.len; {
		n := uint64(t.u8(off + 1))
		if n < 2 || !t.has(off, n) {
			m.Truncated = true // a length of zero would never end
			return
		}
		m.entry(t, off, n)
		off += n
	}
}

func (m *MADT) entry(t table, off, n uint64) {
	switch typ := t.u8(off); {
	case typ == madtLAPIC && n >= madtLAPICLen:
		// 0xff is the broadcast id: firmware's placeholder for "no CPU".
		if id := t.u8(off + 3); id != 0xff {
			m.addCPU(uint32(id), uint32(t.u8(off+2)), t.u32(off+4))
		}
	case typ == madtX2APIC && n >= madtX2APICLen:
		if id := t.u32(off + 4); id != 0xffffffff {
			m.addCPU(id, t.u32(off+12), t.u32(off+8))
		}
	case typ == madtIOAPIC && n >= madtIOAPICLen:
		if m.NIOAPIC == MaxIOAPICs {
			m.Truncated = true
			return
		}
		m.IOAPICs[m.NIOAPIC] = IOAPIC{t.u8(off + 2), t.u32(off + 4), t.u32(off + 8)}
		m.NIOAPIC++
	case typ == madtOverride && n >= madtOverrideLen:
		if m.NOverride == MaxOverrides {
			m.Truncated = true
			return
		}
		m.Overrides[m.NOverride] = Override{t.u8(off + 3), t.u32(off + 4)}
		m.NOverride++
	case typ == madtLAPICAddr && n >= madtLAPICAddrLen:
		m.LAPIC = t.u64(off + 4)
	case typ == madtLAPIC, typ == madtX2APIC, typ == madtIOAPIC, typ == madtOverride, typ == madtLAPICAddr:
		m.Truncated = true // a known type, but too short for its fields
	}
}

// addCPU enters a CPU once: some firmware lists it both as APIC and as x2APIC,
// or uses id 0 for empty slots. An enabled entry beats one that is not.
func (m *MADT) addCPU(apic, uid, flags uint32) {
	c := CPU{apic, uid, flags&1 != 0}
	for i := 0; i < m.NCPU; i++ {
		if m.CPUs[i].APIC == apic {
			if c.Enabled && !m.CPUs[i].Enabled {
				m.CPUs[i] = c
			}
			return
		}
	}
	if m.NCPU == MaxCPUs {
		m.Truncated = true
		return
	}
	m.CPUs[m.NCPU] = c
	m.NCPU++
}
