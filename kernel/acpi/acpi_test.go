package acpi

import (
	"encoding/binary"
	"os"
	"testing"

	"sonde/arch/amd64/phys"
)

var le = binary.LittleEndian

// load lays out the tables of a real machine as dumped by pmemsave; a record
// is its physical address, its length and its bytes.
func load(t testing.TB, name string) phys.Mem {
	t.Helper()
	d, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 32<<20)
	for len(d) > 0 {
		pa, n := le.Uint64(d), le.Uint64(d[8:])
		copy(b[pa:], d[16:16+n])
		d = d[16+n:]
	}
	return phys.Over(b)
}

func TestQ35(t *testing.T) {
	var i Info
	if c := Parse(load(t, "q35.acpi"), 0xf59e0, &i); c != OK || !i.Found || i.BadTables != 0 {
		t.Fatal(c, i.BadTables)
	}
	m := &i.MADT
	if !m.Found || m.LAPIC != 0xfee00000 || m.NCPU != 3 || m.CPUs[2] != (CPU{2, 2, true}) ||
		m.NIOAPIC != 1 || m.IOAPICs[0].Addr != 0xfec00000 || m.GSI(0) != 2 || m.GSI(1) != 1 ||
		m.GSI(9) != 9 || m.Truncated {
		t.Errorf("%+v", m.Overrides[:m.NOverride])
	}
	want := FADT{Found: true, DSDT: 0x1fe0040, SMICmd: 0xb2, ACPIEnable: 2,
		PM1a: Register{0x604, SpaceIO, 16, 0, 0}, PMTimer: Register{0x608, SpaceIO, 32, 0, 0},
		Reset: Register{0xcf9, SpaceIO, 8, 0, 0}, ResetValue: 15}
	if i.FADT != want {
		t.Errorf("FADT\n got %+v\nwant %+v", i.FADT, want)
	}
	if !i.HPET.Found || i.HPET.Base.Addr != 0xfed00000 || i.HPET.Base.Space != SpaceMemory {
		t.Errorf("%+v", i.HPET)
	}
	if i.S5 != (S5{true, 0, 0}) {
		t.Errorf("%+v", i.S5)
	}
}

func TestMicrovm(t *testing.T) {
	var i Info
	if c := Parse(load(t, "microvm.acpi"), 0xf3490, &i); c != OK || i.Rev != 2 || i.BadTables != 0 {
		t.Fatal(c, i.BadTables)
	}
	f := i.FADT
	if !f.HWReduced || f.Reset != (Register{0xfea00202, SpaceMemory, 8, 0, 0}) || f.ResetValue != 0x42 ||
		f.SleepControl != (Register{0xfea00200, SpaceMemory, 8, 0, 0}) || f.PM1a.Present() || f.PMTimer.Present() {
		t.Errorf("%+v", f)
	}
	if i.MADT.NCPU != 3 || i.HPET.Found || i.S5 != (S5{true, 5, 0}) {
		t.Errorf("%d CPUs, %+v, %+v", i.MADT.NCPU, i.HPET, i.S5)
	}
}

// mem is a hand-built memory: RSDP at 0x40, RSDT at 0x100, XSDT at 0x200,
// tables from 0x1000 on.
type mem struct {
	b    []byte
	next uint64
}

func table8(sig string, n int, body ...byte) []byte {
	b := make([]byte, max(n, 36+len(body)))
	copy(b, sig)
	copy(b[36:], body)
	le.PutUint32(b[4:], uint32(len(b)))
	return b
}

func seal(b []byte, at int) {
	b[at] = 0
	for i, x := range b {
		if i != at {
			b[at] -= x
		}
	}
}

func build(rev uint8, tables ...[]byte) *mem {
	m := &mem{make([]byte, 0x8000), 0x1000}
	rsdt, xsdt := table8("RSDT", 36+4*len(tables)), table8("XSDT", 36+8*len(tables))
	for i, t := range tables {
		le.PutUint32(rsdt[36+4*i:], uint32(m.next))
		le.PutUint64(xsdt[36+8*i:], m.next)
		seal(t, 9)
		copy(m.b[m.next:], t)
		m.next += uint64(len(t)+15) &^ 15
	}
	seal(rsdt, 9)
	seal(xsdt, 9)
	copy(m.b[0x100:], rsdt)
	copy(m.b[0x200:], xsdt)
	r := m.b[0x40:0x64]
	copy(r, "RSD PTR ")
	r[15] = rev
	le.PutUint32(r[16:], 0x100)
	if rev >= 2 {
		le.PutUint32(r[20:], 36)
		le.PutUint64(r[24:], 0x200)
	}
	seal(r[:20], 8)
	seal(r, 32)
	return m
}

func (m *mem) parse() (*Info, Code) {
	i := new(Info)
	c := Parse(phys.Over(m.b), 0x40, i)
	return i, c
}

func madt(entries ...byte) []byte {
	return table8("APIC", 0, append([]byte{0, 0, 0xe0, 0xfe, 1, 0, 0, 0}, entries...)...)
}

func TestRootTables(t *testing.T) {
	lapic := []byte{0, 8, 7, 3, 1, 0, 0, 0}
	for _, c := range []struct {
		name string
		rev  uint8
		edit func(*mem)
		want Code
		cpus int
		bad  int
	}{
		{"RSDT", 0, nil, OK, 1, 0},
		{"XSDT", 2, func(m *mem) { m.b[0x100] = 'x' }, OK, 1, 0},
		{"RSDP signature", 2, func(m *mem) { m.b[0x40]++ }, NoRSDP, 0, 0},
		{"RSDP checksum", 2, func(m *mem) { m.b[0x4a]++ }, NoRSDP, 0, 0},
		{"RSDP second checksum leaves the RSDT", 2, func(m *mem) { m.b[0x58]++ }, OK, 1, 1},
		{"RSDP length leaves the RSDT", 2, func(m *mem) { m.b[0x57] = 0xff }, OK, 1, 1},
		{"XSDT checksum leaves the RSDT", 2, func(m *mem) { m.b[0x210]++ }, OK, 1, 1},
		{"both roots bad", 2, func(m *mem) { m.b[0x110]++; m.b[0x210]++ }, NoRoot, 0, 1},
		{"RSDT checksum", 0, func(m *mem) { m.b[0x110]++ }, NoRoot, 0, 0},
		{"RSDT length zero", 0, func(m *mem) { m.b[0x104] = 0 }, NoRoot, 0, 0},
		{"RSDT length huge", 0, func(m *mem) { m.b[0x107] = 0xff }, NoRoot, 0, 0},
		{"MADT checksum", 0, func(m *mem) { m.b[0x1030]++ }, OK, 0, 1},
		{"MADT length past memory", 0, func(m *mem) { m.b[0x1006] = 1 }, OK, 0, 1},
		{"root lists itself and nothing", 0, func(m *mem) {
			r := m.b[0x100:0x130]
			le.PutUint32(r[4:], 0x30)
			le.PutUint32(r[40:], 0x100)
			le.PutUint32(r[44:], 0)
			seal(r, 9)
		}, OK, 1, 0},
		{"entry outside memory", 0, func(m *mem) {
			le.PutUint32(m.b[0x124:], 0xfffffff0)
			seal(m.b[0x100:0x128], 9)
		}, OK, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := build(c.rev, madt(lapic...))
			if c.edit != nil {
				c.edit(m)
			}
			i, code := m.parse()
			if code != c.want || i.Found != (c.want == OK) || i.MADT.NCPU != c.cpus || i.BadTables != c.bad {
				t.Errorf("%v, %d CPUs, %d bad", code, i.MADT.NCPU, i.BadTables)
			}
		})
	}
}

func TestNoRSDPGivesTheZeroInfo(t *testing.T) {
	for _, pa := range []uint64{0, 8, 0x7ff8, 1 << 40, ^uint64(0)} {
		i := Info{Found: true}
		if c := Parse(phys.Over(make([]byte, 0x8000)), pa, &i); c != NoRSDP || i != (Info{}) {
			t.Errorf("%#x: %v", pa, c)
		}
	}
	if c := Parse(phys.Mem{}, 0x40, new(Info)); c != NoRSDP {
		t.Error(c)
	}
}

func TestNoAllocation(t *testing.T) {
	m, i := load(t, "q35.acpi"), new(Info)
	if n := testing.AllocsPerRun(10, func() { Parse(m, 0xf59e0, i) }); n != 0 {
		t.Fatal(n)
	}
}

// Whatever the bytes, Parse ends and stays inside; damage must come with a
// fresh checksum or it would be caught at the door.
func FuzzParse(f *testing.F) {
	f.Add([]byte{0, 0}, []byte("_S5_"), []byte{1})
	f.Add([]byte{0, 8, 0, 0, 1, 0, 0, 0, 1, 0}, []byte("\x08_S5_\x12\xc6\x04\x0a"), []byte{0xff})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		if len(a)+len(b)+len(c) > 0x4000 {
			return
		}
		build(2, madt(a...), table8("SSDT", 0, b...), table8("FACP", 0, c...), table8("HPET", 0, c...)).parse()
	})
}
