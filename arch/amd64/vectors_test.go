package amd64

import "testing"

func TestVectors(t *testing.T) {
	for v, want := range map[uint8]string{0: "#DE divide error", 13: "#GP general protection", 14: "#PF page fault",
		15: "reserved exception", 31: "reserved exception", 32: "interrupt",
		VecTimer: "local timer", VecSelf: "call on the calling CPU", 255: "spurious interrupt"} {
		if got := VectorName(v); got != want {
			t.Errorf("%d: %q, want %q", v, got, want)
		}
	}
	codes := map[uint8]bool{8: true, 10: true, 11: true, 12: true, 13: true, 14: true, 17: true, 21: true, 29: true, 30: true}
	for v := range 256 {
		if HasErrorCode(uint8(v)) != codes[uint8(v)] {
			t.Errorf("error code of %d", v)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = VectorName(7) }); n != 0 {
		t.Error(n)
	}
}
