package user

import (
	"slices"
	"testing"
)

// TestCallsReplaceFSGSBASE: each instruction becomes a call of its own routine, and nothing else
// does: neither FXSAVE and STMXCSR, whose opcode is the same, nor an instruction cut off.
func TestCallsReplaceFSGSBASE(t *testing.T) {
	const at, routine = 0x1000, 0x2000
	routines := [4]uintptr{routine, routine + 0x10, routine + 0x20, routine + 0x30}
	code := slices.Concat(
		[]byte{0x90}, []byte{0xf3, 0x48, 0x0f, 0xae, 0xc0}, // rdfsbase rax
		[]byte{0xf3, 0x48, 0x0f, 0xae, 0xd8}, []byte{0xf3, 0x48, 0x0f, 0xae, 0xd0}, // wrgsbase, wrfsbase
		[]byte{0xf3, 0x48, 0x0f, 0xae, 0x00}, []byte{0xf3, 0x48, 0x0f, 0xae, 0xe8},
		[]byte{0xf3, 0x48, 0x0f, 0xae, 0xc8}, // rdgsbase
		[]byte{0xf3, 0x48, 0x0f, 0xae},
	)
	want := []struct {
		off int
		to  uintptr
	}{{1, routine}, {6, routine + 0x30}, {11, routine + 0x20}, {26, routine + 0x10}}
	got := callsFor(code, at, routines)
	if len(got) != len(want) {
		t.Fatalf("%d alternatives: %+v", len(got), got)
	}
	for i, w := range want {
		rel := int(w.to) - (at + w.off + 5)
		calls := []byte{0xe8, byte(rel), byte(rel >> 8), byte(rel >> 16), byte(rel >> 24)}
		if a := got[i]; a.Addr != uintptr(at+w.off) || !slices.Equal(a.Old, code[w.off:w.off+5]) || !slices.Equal(a.New, calls) {
			t.Errorf("%d: %+v, want % x", i, a, calls)
		}
	}
}

// TestXSAVEReplacesFXSAVE: with any base, and neither LDMXCSR, a fence, nor the 32-bit forms.
func TestXSAVEReplacesFXSAVE(t *testing.T) {
	const at = 0x1000
	code := slices.Concat(
		[]byte{0x48, 0x0f, 0xae, 0x01},                     // fxsave64 [rcx]
		[]byte{0x49, 0x0f, 0xae, 0x8f, 1, 2, 3, 4},         // fxrstor64 [r15+0x4030201]
		[]byte{0x41, 0x0f, 0xae, 0x97, 1, 2, 3, 4},         // ldmxcsr
		[]byte{0x0f, 0xae, 0x00}, []byte{0x0f, 0xae, 0xe8}, // fxsave [rax], lfence
		[]byte{0x48, 0x0f, 0xae},
	)
	got := xsaveFor(code, at)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []Alternative{
		{at, []byte{0x48, 0x0f, 0xae, 0x01}, []byte{0x48, 0x0f, 0xae, 0x21}},
		{at + 4, []byte{0x49, 0x0f, 0xae, 0x8f}, []byte{0x49, 0x0f, 0xae, 0xaf}},
	} {
		if a := got[i]; a.Addr != want.Addr || !slices.Equal(a.Old, want.Old) || !slices.Equal(a.New, want.New) {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
}
