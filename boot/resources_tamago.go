//go:build tamago

package main

import (
	"fmt"
	"io"

	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/acpi/tables"
	"sonde/kernel/console"
	"sonde/kernel/die"
	"sonde/kernel/firmware"
	"sonde/kernel/inspect"
	"sonde/kernel/mm"
	"sonde/kernel/pci"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/resource"
	"sonde/kernel/smbios"
)

// Resources in memory and among the ports, and what firmware says about the machine.

// told is the information from firmware.
var told firmware.Firmware

// findFirmware reads the machine's name.
func findFirmware() {
	told = firmware.Firmware{Mem: inspect.Physical{}, Root: acpiInfo.Root, Wide: acpiInfo.Wide}
	dmi, err := smbios.FindEFI(told.Mem, loader.EFI)
	if loader.EFI == 0 {
		dmi, err = smbios.FindBIOS(told.Mem)
	}
	if err != nil {
		printk.Debug("%s", err.Error()) // many machines have none
		return
	}
	told.DMI = dmi
	if name := dmi.Hardware(); name != "" {
		die.SetHardware(name)
		printk.Info("DMI: %s", name)
	}
}

// Sizes of devices' registers in memory, as Linux shows them.
const (
	lapicBytes, ioapicBytes, hpetBytes = 4096, 1024, 1024
	busBytes                           = 1 << 20 // of the configuration space of one PCI bus
)

// showMemory prints /proc/iomem.
func showMemory(w io.Writer) {
	var t resource.Tree
	for _, r := range loader.Map[:loader.NMap] {
		t.Add(r.Type.String(), r.PA, r.Len)
	}
	for name, r := range map[string]mm.Range{"Kernel code": mm.Text, "Kernel rodata": mm.ROData, "Kernel data": mm.Data,
		"Kernel symbols": mm.Symbols, "Kernel probes": mm.Slots, "Kernel programs": mm.Made} {
		t.Add(name, uint64(r.Start)-kernelBase, uint64(r.End-r.Start))
	}
	t.Add("Local APIC", lapicBase(), lapicBytes)
	for i, a := range acpiInfo.MADT.IOAPICs[:acpiInfo.MADT.NIOAPIC] {
		t.Add(fmt.Sprintf("IOAPIC %d", i), uint64(a.Addr), ioapicBytes)
	}
	if h := acpiInfo.HPET; h.Found && h.Base.Space == acpi.SpaceMemory {
		t.Add("HPET 0", h.Base.Addr, hpetBytes)
	}
	all, _ := told.Tables() // the valid ones
	for _, one := range all {
		for _, e := range one.ECAM() {
			addECAM(&t, e)
		}
	}
	addPCI(&t, false)
	if f := &loader.Framebuffer; f.Width != 0 {
		t.Add("BOOTFB", f.PA, uint64(f.Pitch)*uint64(f.Height))
	}
	t.Print(w)
}

func addECAM(t *resource.Tree, e tables.ECAM) {
	name := fmt.Sprintf("PCI MMCONFIG %04x [bus %02x-%02x]", e.Segment, e.First, e.Last)
	t.Add(name, e.Base+uint64(e.First)*busBytes, (uint64(e.Last)-uint64(e.First)+1)*busBytes)
}

// addPCI adds the memory or port ranges of PCI devices.
func addPCI(t *resource.Tree, io bool) {
	for _, d := range pci.All() {
		for _, r := range d.Regions {
			switch {
			case r.IO != io, r.Off:
			case r.Kind == pci.Window:
				t.Add(fmt.Sprintf("PCI Bus 0000:%02x", d.Secondary), r.Start, r.Size)
			default:
				t.Add(d.Address(), r.Start, r.Size)
			}
		}
	}
}

// showPorts prints /proc/ioports: ports of PCI devices, and those that the kernel uses.
func showPorts(w io.Writer) {
	var t resource.Tree
	addPCI(&t, true)
	for _, p := range []struct {
		name     string
		start, n uint64
	}{
		{"pic1", 0x20, 2}, {"pic2", 0xa0, 2}, {"timer0", 0x40, 4}, {"rtc0", 0x70, 2}, {"POST code", postPort, 1}, {"PCI conf1", 0xcf8, 8},
	} {
		t.Add(p.name, p.start, p.n)
	}
	for _, r := range console.Ports() {
		t.Add(r.Name, r.Start, r.N)
	}
	if power.InQEMU() {
		t.Add("QEMU exit", exitcode.Port, 4)
	}
	if console.HasPipe() {
		t.Add("QEMU console", exitcode.OutPort, 1)
	}
	f := &acpiInfo.FADT
	for name, r := range map[string]acpi.Register{"ACPI PM1a_CNT_BLK": f.PM1a, "ACPI PM1b_CNT_BLK": f.PM1b, "ACPI PM_TMR": f.PMTimer, "ACPI RESET_REG": f.Reset} {
		if r.IO() {
			t.Add(name, r.Addr, uint64(r.Width)/8)
		}
	}
	t.Print(w)
}
