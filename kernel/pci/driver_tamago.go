//go:build tamago

package pci

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
)

// Enable lets f answer to its addresses in memory, and read and write memory itself.
func (f Function) Enable() { f.command(DecodeMemory|BusMaster, 0) }

// command sets bits of the command and clears others.
func (f Function) command(set, clear uint32) {
	at := f.place()
	at.Write(CommandAt, at.Read(CommandAt)&0xffff&^clear|set)
}

// Memory is a range of f's registers in memory. Outside of it, all bits read as 1 and writing does nothing, as where
// no device answers: what offsets a device gives is not to be trusted.
type Memory struct{ start, size uintptr }

// Map maps the range of base address register n, uncached, for good.
//
// Errors: ENODEV it is no range of memory; ENOMEM; EINVAL no such address.
func (f Function) Map(n int) (Memory, error) {
	for _, r := range f.Regions {
		if r.Kind != BAR || r.Number != n || r.IO {
			continue
		}
		page := r.Start &^ (paging.PageSize - 1)
		size := (r.Start - page + r.Size + paging.PageSize - 1) &^ (paging.PageSize - 1)
		va, c := mm.MapRegisters(page, size, amd64.PTE_NX|amd64.PTE_W|amd64.PTE_PCD)
		if c != paging.OK {
			return Memory{}, refusal.New(syscall.ENOMEM, "pci: map %#x bytes at %#x of %s: %s", r.Size, r.Start, f.Address(), c)
		}
		return Memory{va + uintptr(r.Start-page), uintptr(r.Size)}, nil
	}
	return Memory{}, refusal.New(syscall.ENODEV, "pci: map range %d of %s: it has no memory there", n, f.Address())
}

// Read32 reads the register at an offset in bytes.
//
// Context: any.
func (m Memory) Read32(offset uint32) uint32 {
	if uintptr(offset)+4 > m.size {
		return ^uint32(0)
	}
	return cpu.ReadMMIO32(m.start + uintptr(offset))
}

// Write32 writes it.
//
// Context: any.
func (m Memory) Write32(offset, v uint32) {
	if uintptr(offset)+4 <= m.size {
		cpu.WriteMMIO32(m.start+uintptr(offset), v)
	}
}

// Interrupt makes f interrupt CPU 0, where that calls handler: by MSI-X or MSI, otherwise by the line to which firmware
// has routed its pin. It returns which. handler says whether f asked.
//
// Context: goroutine; handler runs in interrupt context.
// Errors: those of irq.Request and irq.RequestMessage; ENODEV it has neither.
func (f Function) Interrupt(lines *acpi.MADT, name string, handler func() bool) (how string, err error) {
	c := f.Config()
	x, plain := c.Find(CapMSIX), c.Find(CapMSI)
	if x == 0 && plain == 0 {
		line := c.U8(IRQAt)
		if line == 0 || line == 0xff {
			return "", refusal.New(syscall.ENODEV, "pci: interrupt of %s: it sends no messages, and firmware gives it no line", f.Address())
		}
		f.command(0, DisableINTx)
		return "its pin", irq.RequestLevel(lines, line, name, handler)
	}
	vector, err := irq.RequestMessage(name, func() { handler() })
	if err != nil {
		return "", err
	}
	address, data := uint32(messageAddress|cpu.APIC(0)<<12), uint32(vector)
	f.command(DisableINTx, 0)
	if x == 0 {
		message(c, f.place().Write, plain, address, data)
		return "MSI", nil
	}
	table := c.U32(x + 4)
	entries, err := f.Map(int(table & 7))
	if err != nil {
		return "", err
	}
	for i, v := range [...]uint32{address, 0, data, 0} {
		entries.Write32(table&^7+4*uint32(i), v)
	}
	at := f.place()
	at.Write(x, at.Read(x)&^(messagesMasked)|messagesOn)
	return "MSI-X", nil
}
