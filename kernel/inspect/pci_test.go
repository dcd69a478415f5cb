package inspect

import (
	"strings"
	"testing"
)

const ids = `#	List of PCI ID's
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
	n, err := ReadNames(strings.NewReader(ids))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names *Names
		p     PCI
		want  string
	}{
		{n, PCI{0, 0x1f, 0, 0x8086, 0x2918, 0x0601, 2}, "00:1f.0 ISA bridge [0601]: Intel Corporation 82801IB (ICH9) LPC Interface Controller [8086:2918] (rev 02)"},
		{n, PCI{3, 2, 1, 0x1af4, 0x29c0, 0x0200, 0}, "03:02.1 Ethernet controller [0200]: Red Hat, Inc. Device 29c0 [1af4:29c0]"},
		{n, PCI{0, 1, 0, 0x1028, 0x0236, 0xff00, 0}, "00:01.0 Class [ff00]: Vendor 1028 Device 0236 [1028:0236]"},
		{nil, PCI{0, 0, 0, 0x8086, 0x29c0, 0x0600, 0}, "00:00.0 Host bridge [0600]: Vendor 8086 Device 29c0 [8086:29c0]"},
	} {
		if got := c.names.Format(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
