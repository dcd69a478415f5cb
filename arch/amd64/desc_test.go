package amd64

import (
	"testing"
	"unsafe"
)

func TestSegmentDescriptors(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"kernel code", CodeDesc(0), 0x00af9b000000ffff},
		{"user code", CodeDesc(3), 0x00affb000000ffff},
		{"kernel data", DataDesc(0), 0x00cf93000000ffff},
		{"user data", DataDesc(3), 0x00cff3000000ffff},
		{"STAR", STAR, 0x0013_0008_0000_0000},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#016x, want %#016x", c.name, c.got, c.want)
		}
	}
	if lo, hi := TSSDesc(0xffff8001_23456789, TSSSize-1); lo != 0x2300894567890067 || hi != 0xffff8001 {
		t.Errorf("TSS %#016x %#016x", lo, hi)
	}
	if lo, _ := TSSDesc(0, 0xabcde); lo != 0x000a89000000bcde {
		t.Errorf("TSS limit %#016x", lo)
	}
}

func TestSYSRETFindsTheUserSelectors(t *testing.T) {
	base := uint64(STAR) >> 48
	if base+8|3 != SelUserData || base+16|3 != SelUserCode || uint64(STAR)>>32&0xffff+8 != SelKernelData {
		t.Fatal("STAR does not fit the selectors")
	}
}

func TestGate(t *testing.T) {
	const at = 0xffff8001_23456789
	for _, c := range []struct {
		name   string
		g      Gate
		lo, hi uint64
	}{
		{"#BP from ring 3, IST 1", MakeGate(at, SelKernelCode, 1, GateInterrupt, 3), 0x2345ee0100086789, 0xffff8001},
		{"trap gate", MakeGate(at, 0x10, 0, GateTrap, 0), 0x23458f0000106789, 0xffff8001},
		{"IST 7", MakeGate(0, SelKernelCode, 7, GateInterrupt, 0), 0x00008e0700080000, 0},
	} {
		if c.g.Lo != c.lo || c.g.Hi != c.hi {
			t.Errorf("%s: %#016x %#016x", c.name, c.g.Lo, c.g.Hi)
		}
	}
	if got := MakeGate(at, 8, 0, GateTrap, 0).Offset(); got != at {
		t.Errorf("offset %#x", got)
	}
	if unsafe.Sizeof(Gate{}) != 16 {
		t.Error("size")
	}
}

func TestTSSLayout(t *testing.T) {
	var s TSS
	if unsafe.Sizeof(s) != TSSSize || unsafe.Offsetof(s.RSP) != 4 || unsafe.Offsetof(s.IST) != 36 ||
		unsafe.Offsetof(s.IOPB) != 102 {
		t.Fatal("layout")
	}
	s.RSP[0].Set(0x1122334455667788)
	s.SetIST(1, 0xa1a2a3a4a5a6a7a8)
	s.SetIST(7, 7)
	s.SetIST(0, 1)
	s.SetIST(8, 1)
	b := (*[TSSSize]byte)(unsafe.Pointer(&s))
	var want [TSSSize]byte
	copy(want[4:], "\x88\x77\x66\x55\x44\x33\x22\x11")
	copy(want[36:], "\xa8\xa7\xa6\xa5\xa4\xa3\xa2\xa1")
	want[84] = 7
	if *b != want || s.RSP[0].Get() != 0x1122334455667788 {
		t.Errorf("%x", *b)
	}
}
