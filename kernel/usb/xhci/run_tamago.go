//go:build tamago

package xhci

import (
	"syscall"
	"unsafe"

	"sonde/kernel/acpi"
	"sonde/kernel/irq"
	"sonde/kernel/kthread"
	"sonde/kernel/mm"
	"sonde/kernel/pci"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
	"sonde/kernel/usb"
)

// Run runs the controller f until that fails. looked is called when its ports have been looked at.
//
// Errors: those of New, Start, and pci.
func Run(f pci.Function, lines *acpi.MADT, name string, u *usb.Drivers, looked func()) error {
	f.Enable()
	registers, err := f.Map(0)
	if err != nil {
		return err
	}
	c, err := New(machine{registers}, name, u)
	if err != nil {
		return err
	}
	var event irq.Event
	how, err := f.Interrupt(lines, "xhci_hcd", func() bool {
		asked := c.Interrupt()
		event.Wake()
		return asked
	})
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	printk.Info("xhci %s: %s, interrupts by %s", name, f.Address(), how)
	kthread.Run("xhci "+name+" events", func() {
		for c.Works() {
			event.Wait(-1)
			c.Serve()
		}
	})
	c.Watch(looked)
	return nil
}

// machine is what a controller needs around it.
type machine struct{ pci.Memory }

// Page implements Machine. The heap's pages are in one piece each, and do not move.
//
// Errors: ENOMEM.
func (machine) Page(low bool) (Page, error) {
	const tries, end = 64, 1 << 32
	var high [tries]*[pageWords]uint32 // kept meanwhile, so that others are given
	for i := range high {
		p := new([pageWords]uint32)
		pa := mm.Physical(unsafe.Pointer(p))
		if pa != 0 && pa%pageBytes == 0 && (!low || pa+pageBytes <= end) {
			return Page{Words: p, PA: pa}, nil
		}
		high[i] = p
	}
	return Page{}, refusal.New(syscall.ENOMEM, "xhci: no page below 4 GiB is free, and the controller reaches no other")
}
