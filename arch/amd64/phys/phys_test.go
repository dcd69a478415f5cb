package phys

import (
	"testing"
	"unsafe"
)

func TestReadsAreLittleEndianAtAnyAlignment(t *testing.T) {
	m := Over([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 'x', 'y'})
	if m.Read8(1) != 1 || m.Read16(1) != 0x0201 || m.Read32(1) != 0x04030201 ||
		m.Read64(1) != 0x0807060504030201 || m.String(9, 2) != "xy" {
		t.Fatal("wrong value")
	}
}

func TestOutsideReadsZeroAndWritesNothing(t *testing.T) {
	b := []byte{255, 255, 255, 255, 255, 255, 255, 255, 255}
	m := Over(b)
	const top = ^uint64(0)
	for _, pa := range []uint64{9, 10, 1 << 40, top, top - 1, top - 7} {
		if m.Read8(pa) != 0 || m.Read16(pa) != 0 || m.Read32(pa) != 0 || m.Read64(pa) != 0 ||
			m.Write64(pa, 0) || m.Zero(pa, 8) || m.String(pa, 1) != "" {
			t.Errorf("access at %#x got through", pa)
		}
	}
	if m.Read16(8) != 0 || m.Read32(6) != 0 || m.Read64(2) != 0 || m.Write64(2, 0) {
		t.Error("access straddling the end got through")
	}
	if m.Has(0, top) || m.Has(1, 9) || !m.Has(0, 9) || !m.Has(9, 0) {
		t.Error("Has is wrong at the edges")
	}
	if m.String(0, top) != "" || m.Zero(0, 7) {
		t.Error("bad length accepted")
	}
	for _, x := range b {
		if x != 255 {
			t.Fatal("memory changed")
		}
	}
	if (Mem{}).Read64(0) != 0 {
		t.Error("the zero Mem must hold nothing")
	}
}

// String at address 0 used to panic in unsafe.String.
func TestAt(t *testing.T) {
	m := At(0, 1<<47)
	pa := uint64(uintptr(unsafe.Pointer(&here)))
	if m.Read64(pa) != 0x6f6c6c6568 || m.String(pa, 5) != "hello" || m.String(0, 5) != "" {
		t.Fatal("wrong value")
	}
	if m.Write64(1<<47, 0) || m.Read8(1<<47) != 0 {
		t.Fatal("outside")
	}
}

var here = uint64(0x6f6c6c6568)

func TestNoAllocation(t *testing.T) {
	m := Over(make([]byte, 64))
	if n := testing.AllocsPerRun(100, func() {
		m.Zero(0, 64)
		m.Write64(8, 0x41)
		_ = m.String(8, m.Read64(8)-0x40)
	}); n != 0 {
		t.Fatal(n)
	}
}
