//go:build tamago

package library

import (
	"github.com/usbarmory/tamago/dma"
	"github.com/usbarmory/tamago/kvm/virtio"
	"github.com/usbarmory/tamago/soc/intel/pci"

	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("library/virtio_driver_refuses_what_is_none", virtioRefuses)
	suites.Add("library/pci_driver_sees_the_host_bridge", pciSeesBridge)
	suites.Add("library/dma_outside_the_heap_only", dmaOutsideHeap)
}

// virtioRefuses makes the driver look at a device that is not virtio: the host bridge.
func virtioRefuses(t *suites.T) {
	devices := pci.Devices(0)
	if len(devices) == 0 {
		t.Skipf("no PCI")
	}
	io := &virtio.PCI{Device: devices[0]}
	if err := io.Init(0); err == nil {
		t.Errorf("the host bridge is a virtio device")
	} else {
		t.Logf("%v", err)
	}
}

// pciSeesBridge compares the driver with the configuration space as we read it.
func pciSeesBridge(t *suites.T) {
	cpu.Out32(0xcf8, 1<<31)
	first := cpu.In32(0xcfc)
	devices := pci.Devices(0)
	if first == ^uint32(0) {
		if len(devices) != 0 {
			t.Errorf("%d devices on a machine without PCI", len(devices))
		}
		return
	}
	if len(devices) == 0 {
		t.Fatalf("no device, but %#x is the first", first)
	}
	if d := devices[0]; uint32(d.Vendor)|uint32(d.Device)<<16 != first {
		t.Errorf("the first device is %04x:%04x, want %#x", d.Vendor, d.Device, first)
	}
	t.Logf("%d devices", len(devices))
}

// dmaOutsideHeap: the driver refuses what runtime.MemRegion says is the runtime's.
func dmaOutsideHeap(t *suites.T) {
	if _, err := dma.NewRegion(uint(mm.Heap.Start)+4096, 4096, false); err == nil {
		t.Errorf("a region in the heap is not refused")
	}
	if _, err := dma.NewRegion(0x10000, 4096, false); err != nil {
		t.Errorf("a region in low memory: %v", err)
	}
}
