package acpi

import "testing"

func TestMADTEntries(t *testing.T) {
	i, _ := build(2, madt(
		0, 8, 1, 0, 0, 0, 0, 0, // empty slot with id 0
		0, 8, 2, 0, 1, 0, 0, 0, // CPU 0
		0, 8, 3, 0xff, 0, 0, 0, 0, // placeholder
		0, 8, 4, 5, 2, 0, 0, 0, // can be plugged in
		9, 16, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, // CPU 0 again
		9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, // id 0x100
		9, 16, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 9, 0, 0, 0,
		1, 12, 2, 0, 0, 0, 0xc0, 0xfe, 24, 0, 0, 0,
		2, 10, 0, 9, 20, 0, 0, 0, 0xf, 0,
		5, 12, 0, 0, 0, 0, 0xe0, 0xfe, 1, 0, 0, 0,
		4, 6, 255, 0, 0, 1, // LAPIC NMI: not read
		0x80, 2, // vendor's
	)).parse()
	m := &i.MADT
	want := []CPU{{0, 2, true}, {5, 4, false}, {0x100, 9, true}}
	if m.NCPU != len(want) || m.Truncated {
		t.Fatalf("%+v", m.CPUs[:m.NCPU])
	}
	for k, w := range want {
		if m.CPUs[k] != w {
			t.Errorf("%d: %+v, want %+v", k, m.CPUs[k], w)
		}
	}
	if m.LAPIC != 0x1fee00000 || m.NIOAPIC != 1 || m.IOAPICs[0] != (IOAPIC{2, 0xfec00000, 24}) {
		t.Errorf("%#x %+v", m.LAPIC, m.IOAPICs[0])
	}
	for irq, want := range map[uint8]uint32{9: 20, 4: 4} {
		if got := m.GSI(irq); got != want {
			t.Errorf("interrupt %d arrives at %d, want %d", irq, got, want)
		}
	}
}

func TestMADTBadLengthsEndTheWalk(t *testing.T) {
	cpu := []byte{0, 8, 1, 1, 1, 0, 0, 0}
	for _, c := range []struct {
		name string
		tail []byte
		cpus int
	}{
		{"zero", []byte{0, 0, 1, 2, 1, 0, 0, 0}, 1},
		{"one", []byte{0, 1}, 1},
		{"past the end", []byte{0, 9, 1, 2, 1, 0, 0, 0}, 1},
		{"cut after the type", []byte{0}, 1},
		{"too short for its type", []byte{9, 8, 0, 0, 2, 0, 0, 0, 0, 8, 1, 2, 1, 0, 0, 0}, 2},
	} {
		i, _ := build(0, madt(append(cpu, c.tail...)...)).parse()
		if i.MADT.NCPU != c.cpus || !i.MADT.Truncated {
			t.Errorf("%s: %d CPUs, truncated %v", c.name, i.MADT.NCPU, i.MADT.Truncated)
		}
	}
}

func TestMADTTooMany(t *testing.T) {
	var e []byte
	for k := range MaxCPUs + 1 {
		e = append(e, 9, 16, 0, 0, byte(k), byte(k>>8), 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	}
	for k := range max(MaxIOAPICs, MaxOverrides) + 1 {
		e = append(e, 1, 12, byte(k), 0, 0, 0, 0, 0, 0, 0, 0, 0)
		e = append(e, 2, 10, 0, byte(k), 0, 0, 0, 0, 0, 0)
	}
	i, _ := build(0, madt(e...)).parse()
	m := &i.MADT
	if m.NCPU != MaxCPUs || m.NIOAPIC != MaxIOAPICs || m.NOverride != MaxOverrides || !m.Truncated {
		t.Error(m.NCPU, m.NIOAPIC, m.NOverride, m.Truncated)
	}
}

func TestShortMADTIsNotFound(t *testing.T) {
	if i, _ := build(0, table8("APIC", 43)).parse(); i.MADT.Found {
		t.Error("found")
	}
}

func fadt(n int) []byte {
	b := table8("FACP", n)
	le.PutUint32(b[48:], 0xb2)
	b[52] = 0xf1
	le.PutUint32(b[64:], 0x404)
	le.PutUint32(b[68:], 0x414)
	le.PutUint32(b[76:], 0x408)
	b[89], b[91] = 2, 4
	return b
}

func TestFADT(t *testing.T) {
	pm1a, pm1b, tmr := Register{0x404, SpaceIO, 16, 0, 0}, Register{0x414, SpaceIO, 16, 0, 0}, Register{0x408, SpaceIO, 32, 0, 0}
	io, mmio := []byte{1, 8, 0, 1, 0xf9, 0x0c}, []byte{0, 8, 0, 1, 0, 0, 0, 0xe0, 1}
	for _, c := range []struct {
		name string
		n    int
		edit func(b []byte)
		want FADT
	}{
		{"ACPI 1.0", 116, nil, FADT{Found: true, SMICmd: 0xb2, ACPIEnable: 0xf1, PM1a: pm1a, PM1b: pm1b, PMTimer: tmr}},
		{"no timer", 116, func(b []byte) { b[91] = 0 }, FADT{Found: true, SMICmd: 0xb2, ACPIEnable: 0xf1, PM1a: pm1a, PM1b: pm1b}},
		{"too short", 115, nil, FADT{}},
		{"reset register without its flag", 244, func(b []byte) { copy(b[116:], io); b[128] = 6; b[113] = 1 },
			FADT{Found: true, SMICmd: 0xb2, ACPIEnable: 0xf1, PM1a: pm1a, PM1b: pm1b, PMTimer: tmr}},
		{"64-bit fields win", 244, func(b []byte) {
			copy(b[172:], mmio)
			copy(b[208:], mmio)
			copy(b[116:], io)
			b[128], b[113] = 6, 4
		}, FADT{Found: true, SMICmd: 0xb2, ACPIEnable: 0xf1, PM1b: pm1b, Reset: Register{0xcf9, SpaceIO, 8, 0, 1}, ResetValue: 6,
			PM1a: Register{0x1e0000000, 0, 8, 0, 1}, PMTimer: Register{0x1e0000000, 0, 8, 0, 1}}},
		{"hardware-reduced", 268, func(b []byte) { copy(b[244:], mmio); b[114] = 0x10 },
			FADT{Found: true, HWReduced: true, SleepControl: Register{0x1e0000000, 0, 8, 0, 1}}},
		{"hardware-reduced, cut inside the register", 255, func(b []byte) { copy(b[244:], mmio); b[114] = 0x10 },
			FADT{Found: true, HWReduced: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := fadt(c.n)
			if c.edit != nil {
				c.edit(b)
			}
			if i, _ := build(0, b).parse(); i.FADT != c.want {
				t.Errorf("\n got %+v\nwant %+v", i.FADT, c.want)
			}
		})
	}
}

func TestDSDTAddress(t *testing.T) {
	for _, c := range []struct {
		name    string
		old, x  uint64
		s5      bool
		damaged int
	}{
		{"old field", 0x1200, 0, true, 0}, {"64-bit field wins", 0x10, 0x1200, true, 0},
		{"outside", 0, 1 << 45, false, 1}, {"none", 0, 0, false, 0}, {"not a DSDT", 0x100, 0, false, 1},
	} {
		f := fadt(244)
		le.PutUint32(f[40:], uint32(c.old))
		le.PutUint64(f[140:], c.x)
		m := build(0, f)
		d := table8("DSDT", 0, 8, '_', 'S', '5', '_', 0x12, 6, 4, 0x0a, 5, 0x0a, 6)
		seal(d, 9)
		copy(m.b[0x1200:], d)
		if i, _ := m.parse(); i.S5.Found != c.s5 || i.BadTables != c.damaged {
			t.Errorf("%s: %+v, %d bad", c.name, i.S5, i.BadTables)
		}
	}
}

func TestS5(t *testing.T) {
	for _, c := range []struct {
		name, aml string
		want      S5
	}{
		{"bytes", "\x08_S5_\x12\x08\x04\x0a\x05\x0a\x06\x00\x00", S5{true, 5, 6}},
		{"root prefix", "\x08\\_S5_\x12\x06\x02\x0a\x07\x01", S5{true, 7, 1}},
		{"long package length", "\x08_S5_\x12\x46\x00\x04\x0b\x05\x00\x0c\x02\x00\x00\x00", S5{true, 5, 2}},
		{"zeros", "\x08_S5_\x12\x06\x04\x00\x00\x00\x00", S5{true, 0, 0}},
		{"one integer for both", "\x08_S5_\x12\x05\x01\x0b\x05\x03", S5{true, 5, 3}},
		{"a mere reference first", "_S5_\x70\x08_S5_\x12\x04\x02\x0a\x05\x01", S5{true, 5, 1}},
		{"method, not a name", "\x14\x0b_S5_\x00\xa4", S5{}},
		{"not a package", "\x08_S5_\x0a\x05", S5{}},
		{"empty package", "\x08_S5_\x12\x02\x00\x0a\x05", S5{}},
		{"element is no constant", "\x08_S5_\x12\x05\x02\x0a\x05AAAA", S5{}},
		{"cut in the name", "\x08_S5", S5{}}, {"cut behind the name", "\x08_S5_", S5{}},
		{"cut in the length", "\x08_S5_\x12\xc4", S5{}}, {"cut in a value", "\x08_S5_\x12\x05\x02\x0a\x05\x0a", S5{}},
		{"cut before a value", "\x08_S5_\x12\x05\x02\x0a\x05", S5{}},
		{"none", "", S5{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, code := build(0, table8("SSDT", 0, []byte(c.aml)...)).parse()
			if code != OK || i.S5 != c.want {
				t.Errorf("%v: %+v, want %+v", code, i.S5, c.want)
			}
		})
	}
}

func TestSleepValues(t *testing.T) {
	if got := PM1(0x1c01, 5); got != 0x3401 {
		t.Errorf("PM1 %#x", got)
	}
	if got := Sleep(5); got != 0x34 {
		t.Errorf("sleep control %#x", got)
	}
}

func TestSPCR(t *testing.T) {
	spcr := func(n int, edit func(b []byte)) []byte {
		b := table8("SPCR", n)
		copy(b[40:], []byte{0, 32, 0, 3, 0, 0xe0, 0x03, 0xfe})
		b[36] = 0x12
		edit(b)
		return b
	}
	base := Register{Space: SpaceMemory, Width: 32, Access: 3, Addr: 0xfe03e000}
	for _, c := range []struct {
		name string
		b    []byte
		want SPCR
	}{
		{"memory", spcr(80, func(b []byte) { b[58] = 7; b[53] = 4 }), SPCR{Found: true, Base: base, Baud: 115200}},
		{"port", spcr(80, func(b []byte) { copy(b[36:], []byte{1, 0, 0, 0, 1, 8, 0, 1, 0xf8, 2, 0, 0}); b[52] = 1; b[53] = 3 }),
			SPCR{Found: true, Base: Register{Space: SpaceIO, Width: 8, Access: 1, Addr: 0x2f8}, IRQ: 3}},
		{"ARM's own", spcr(80, func(b []byte) { b[36] = 3 }), SPCR{}},
		{"disabled", spcr(80, func(b []byte) { clear(b[44:52]) }), SPCR{}},
		{"in PCI space", spcr(80, func(b []byte) { b[40] = SpacePCI }), SPCR{}},
		{"short", spcr(79, func([]byte) {}), SPCR{}},
	} {
		i, code := build(0, c.b).parse()
		if code != OK || i.SPCR != c.want {
			t.Errorf("%s: %v %+v, want %+v", c.name, code, i.SPCR, c.want)
		}
	}
	if (&SPCR{Base: base}).Stride() != 4 || (&SPCR{}).Stride() != 1 {
		t.Error("stride")
	}
}

// Writing elsewhere would be a page fault, in place of a restart.
func TestWritable(t *testing.T) {
	for _, c := range []struct {
		r    Register
		want bool
	}{
		{Register{}, false},
		{Register{Addr: 0xcf9, Space: SpaceIO}, true},
		{Register{Addr: 0xfea00202, Space: SpaceMemory}, true},
		{Register{Addr: 0xfdffffff, Space: SpaceMemory}, false},
		{Register{Addr: 0x1e0000000, Space: SpaceMemory}, false},
		{Register{Addr: 0x1f000000dc, Space: SpacePCI}, false},
		{Register{Addr: 0xfea00202, Space: SpacePCI}, false},
	} {
		if got := c.r.Writable(); got != c.want {
			t.Errorf("%+v: %v", c.r, got)
		}
	}
}

// Two I/O APICs may have their registers in one page, which can be mapped once.
func TestPagesOfIOAPICs(t *testing.T) {
	m := MADT{NIOAPIC: 4, IOAPICs: [MaxIOAPICs]IOAPIC{{Addr: 0xfec00000}, {Addr: 0xc8180400}, {Addr: 0xfec00800}, {Addr: 0xc8181000}}}
	for i, want := range []struct {
		pa    uint64
		first bool
	}{{0xfec00000, true}, {0xc8180000, true}, {0xfec00000, false}, {0xc8181000, true}} {
		if pa, first := m.Page(i, 4096); pa != want.pa || first != want.first {
			t.Errorf("%d: %#x, %v", i, pa, first)
		}
	}
}
