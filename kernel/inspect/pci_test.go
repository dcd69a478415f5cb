package inspect

import (
	"strings"
	"testing"

	"sonde/kernel/pci"
)

const listed = `#	List of PCI ID's
8086  Intel Corporation
	2918  82801IB (ICH9) LPC Interface Controller
		1028 0236  PowerEdge R610
	29c0  82G33/G31/P35/P31 Express DRAM Controller
1af4  Red Hat, Inc.
	1000  Virtio network device
C 06  Bridge
	01  ISA bridge
`

func TestNames(t *testing.T) {
	n, err := ReadNames(strings.NewReader(listed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names *Names
		p     pci.Function
		want  string
	}{
		{n, pci.Function{Bus: 0, Slot: 0x1f, Func: 0, Vendor: 0x8086, Device: 0x2918, Class: 0x0601, Revision: 2}, "00:1f.0 ISA bridge: Intel Corporation 82801IB (ICH9) LPC Interface Controller (rev 02)"},
		{n, pci.Function{Bus: 3, Slot: 2, Func: 1, Vendor: 0x1af4, Device: 0x29c0, Class: 0x0200, Revision: 0}, "03:02.1 Ethernet controller: Red Hat, Inc. Device 29c0"},
		{n, pci.Function{Bus: 0, Slot: 1, Func: 0, Vendor: 0x1234, Device: 0x0236, Class: 0xfe00, Revision: 0}, "00:01.0 Class fe00: Device 1234:0236"},
		{new(Names), pci.Function{Bus: 0, Slot: 0, Func: 0, Vendor: 0x8086, Device: 0x29c0, Class: 0x0600, Revision: 0}, "00:00.0 Host bridge: Intel Corporation Device 29c0"},
	} {
		if got := c.names.Format(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
