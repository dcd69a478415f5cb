package inspect

import (
	"regexp"
	"strings"
	"testing"

	"sonde/kernel/pci"
)

// otherLines are those that Details shows of any function.
var otherLines = regexp.MustCompile(`Flags: fast devsel(\n|, )|Bus: .*\n`)

// TestRegions: headers as machines have them.
func TestRegions(t *testing.T) {
	for _, c := range []struct {
		name string
		h    pci.Header
		want string
	}{
		{"VGA", pci.Header{
			Words: [16]uint32{2: 0x03000002, 4: 0xfd000008, 6: 0xfebb0000, 12: 0xfeba0001, 15: 0x0000010b},
			Masks: [16]uint32{4: 0xff000008, 6: 0xfffff000, 12: 0xffff0001},
		}, "IRQ 11\nMemory at fd000000 (32-bit, prefetchable) [size=16M]\nMemory at febb0000 (32-bit, non-prefetchable) [size=4K]\n" +
			"Expansion ROM at feba0000 [size=64K]\n"},
		{"serial port", pci.Header{Words: [16]uint32{4: 0xc041}, Masks: [16]uint32{4: 0xfffffff9}}, "I/O ports at c040 [size=8]\n"},
		{"ports with 16 bits", pci.Header{Words: [16]uint32{4: 0xc041}, Masks: [16]uint32{4: 0xffe1}}, "I/O ports at c040 [size=32]\n"},
		{"64 bits", pci.Header{
			Words: [16]uint32{4: 0x0000000c, 5: 0x38, 6: 0xfe000004},
			Masks: [16]uint32{4: 0x0000000c, 5: 0xffffffff, 6: 0xffffc004, 7: 0xffffffff},
		}, "Memory at 3800000000 (64-bit, prefetchable) [size=4G]\nMemory at fe000000 (64-bit, non-prefetchable) [size=16K]\n"},
		{"64 bits in the last register", pci.Header{Words: [16]uint32{9: 0xfe000004}, Masks: [16]uint32{9: 0xfffff004}},
			"Memory at fe000000 (32-bit, non-prefetchable) [size=4K]\n"},
		{"no address", pci.Header{Masks: [16]uint32{4: 0xfffff000, 12: 0xffff0000}}, ""},
		{"bridge", pci.Header{
			Words: [16]uint32{3: 1 << 16, 6: 0x00010100, 7: 0x0000d0c0, 8: 0xfe80fe60, 9: 0x0011_0001, 10: 8, 11: 8},
			Masks: [16]uint32{},
		}, "I/O behind bridge: c000-dfff [size=8K] [16-bit]\nMemory behind bridge: fe600000-fe8fffff [size=3M] [32-bit]\n" +
			"Prefetchable memory behind bridge: 0000000800000000-00000008001fffff [size=2M] [64-bit]\n"},
		{"bridge with nothing behind", pci.Header{Words: [16]uint32{3: 1 << 16, 7: 0x000000f0, 8: 0x0000fff0, 9: 0x0001fff1}}, "I/O behind bridge: [disabled] [16-bit]\nMemory behind bridge: [disabled] [32-bit]\n" +
			"Prefetchable memory behind bridge: [disabled] [64-bit]\n"},
		{"CardBus", pci.Header{Words: [16]uint32{3: 2 << 16, 4: 0xfe000000}, Masks: [16]uint32{4: 0xfffff000}}, ""},
	} {
		c.h.Words[1] |= 3
		config := pci.Config(func(at int) uint32 { return append(c.h.Words[:], make([]uint32, 48)...)[at/4] })
		got := strings.ReplaceAll(new(Names).Details(pci.Function{Regions: c.h.Regions()}, config, 1), "\t", "")
		if got = otherLines.ReplaceAllString(got, ""); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if got := (pci.Function{Bus: 1, Slot: 0x1f, Func: 2}).Address(); got != "0000:01:1f.2" {
		t.Error(got)
	}
}
