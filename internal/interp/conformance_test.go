package interp

import (
	"testing"

	"sonde/internal/conformance"
)

// TestConformance runs the suite that eBPF's executions share, where it is.
func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, c *conformance.Case) (uint64, error) {
		m, err := New(c.Insns)
		if err != nil {
			t.Fatal(err)
		}
		m.Regions = []Region{{Name: "the memory", Base: 0x10000, Bytes: c.Memory, Writable: true}}
		m.Helpers = map[int32]Helper{5: func(*Machine, [5]uint64) (uint64, error) { return 1, nil }}
		return m.Run(0x10000, uint64(len(c.Memory)))
	})
}
