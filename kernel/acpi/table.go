package acpi

import "sonde/arch/amd64/phys"

const (
	headSize = 36      // of the header every table but the RSDP begins with
	maxTable = 4 << 20 // bytes; larger is taken for damage
)

// table is a table whose checksum is right and which lies inside mem.
type table struct {
	mem     phys.Mem
	pa, len uint64
}

// open checks the table at pa.
func open(mem phys.Mem, pa uint64) (table, bool) {
	if pa == 0 || !mem.Has(pa, headSize) {
		return table{}, false
	}
	n := uint64(mem.Read32(pa + 4))
	if n < headSize || n > maxTable || !sumOK(mem, pa, n) {
		return table{}, false
	}
	return table{mem, pa, n}, true
}

// sumOK reports whether the n bytes at pa exist and add up to zero.
func sumOK(mem phys.Mem, pa, n uint64) bool {
	if !mem.Has(pa, n) {
		return false
	}
	sum := uint8(0)
	for i := uint64(0); i < n; i++ {
		sum += mem.Read8(pa + i)
	}
	return sum == 0
}

func (t table) sig() uint32 { return t.mem.Read32(t.pa) }

// The readers give 0 for a field that is not wholly inside the table: older
// revisions end earlier, and zero is what ACPI calls "not present".

func (t table) has(off, n uint64) bool { return off <= t.len && n <= t.len-off }

func (t table) u8(off uint64) uint8 {
	if !t.has(off, 1) {
		return 0
	}
	return t.mem.Read8(t.pa + off)
}

func (t table) u16(off uint64) uint16 {
	if !t.has(off, 2) {
		return 0
	}
	return t.mem.Read16(t.pa + off)
}

func (t table) u32(off uint64) uint32 {
	if !t.has(off, 4) {
		return 0
	}
	return t.mem.Read32(t.pa + off)
}

func (t table) u64(off uint64) uint64 {
	if !t.has(off, 8) {
		return 0
	}
	return t.mem.Read64(t.pa + off)
}

// Address spaces of a Register.
const (
	SpaceMemory = 0
	SpaceIO     = 1
	SpacePCI    = 2
)

// Register is a Generic Address Structure. Addr 0 means there is none.
type Register struct {
	Addr   uint64
	Space  uint8
	Width  uint8 // bits
	Offset uint8 // bits
	Access uint8 // 0 undefined, 1 byte, 2 word, 3 dword, 4 qword
}

// Present reports whether there is such a register.
func (r Register) Present() bool { return r.Addr != 0 }

// IO reports whether r is an I/O port.
func (r Register) IO() bool { return r.Addr != 0 && r.Space == SpaceIO }

// Writable reports whether the kernel can write to r: to a port, or where boot maps devices in memory. There
// are registers in other spaces, such as PCI's configuration space.
func (r Register) Writable() bool {
	const devices, end = 0xfe00_0000, 1 << 32
	return r.IO() || r.Space == SpaceMemory && r.Addr >= devices && r.Addr < end
}

// reg reads the 12-byte Generic Address Structure at off.
func (t table) reg(off uint64) Register {
	if !t.has(off, 12) {
		return Register{}
	}
	return Register{t.u64(off + 4), t.u8(off), t.u8(off + 1), t.u8(off + 2), t.u8(off + 3)}
}
