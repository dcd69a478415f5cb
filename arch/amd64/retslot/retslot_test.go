package retslot

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// code converts hexadecimal digits, with optional blanks, to bytes.
func code(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	frame   = "55 4889e5 " // PUSHQ BP; MOVQ SP, BP
	unframe = " 5d c3"
)

func TestScanFindsEveryWayToTheSlot(t *testing.T) {
	for _, c := range []struct {
		name, code string
		slot       []int
	}{
		{"returns", "c3", nil},
		{"on top of the stack", "488b0424 c3", []int{0}},
		{"through the frame pointer", frame + "488b4508" + unframe, []int{4}},
		{"behind the frame", "4883ec18 488b442418 4883c418 c3", []int{4}},
		{"below it, a local", "4883ec18 488b442410 4883c418 c3", nil},
		{"above it, an argument", "4883ec18 488b442420 4883c418 c3", nil},
		{"in a large frame", "4881ec00100000 488b842400100000 4881c400100000 c3", []int{7}},
		{"through a copy of SP", "4883ec18 4889e0 488b4018 4883c418 c3", []int{7}},
		{"below an argument's address", "488d7c2408 488b4ff8 c3", []int{5}},
		{"the address is compared meanwhile", "488d3c24 4839c7 4885ff 488b0f c3", []int{10}},
		{"the address is moved", "488d7c2410 4883ef10 488b0f c3", []int{9}},
		{"half of it", "4883ec08 8b44240c 4883c408 c3", []int{4}},
		{"a vector over its edge", "4883ec10 0f10442408 4883c410 c3", []int{4}},
		{"a vector below it", "4883ec10 0f100424 4883c410 c3", nil},
		{"written", "48890424 c3", []int{0}},
		{"popped", "58 ffe0", []int{0}},
		{"popped and pushed", "58 50 c3", []int{0, 1}},
		{"jumped to", "ff2424", []int{0}},
		{"only its address", "488d0424 c3", nil},
		{"a long no-operation", "0f1f0424 c3", nil},
		{"a callee has changed the register", "488d0c24 e800000000 488b01 c3", nil},
		{"another value in the register", "488d0c24 4889c1 488b01 c3", nil},
		{"half a copy", "89e0 488b00 c3", nil},
		{"with an index", "4883ec18 488b44c418 4883c418 c3", nil},
		{"in another segment", "65488b0424 c3", nil},
		{"saved registers", "53 4154 415c 5b c3", nil},
		{"LEAVE", frame + "4883ec20 c9 488b0424 c3", []int{9}},
		{"one of two ways has the address", "488d0c24 7403 4889d1 488b01 c3", nil},
		{"both ways have it", "488d0c24 7402 6690 488b01 c3", []int{8}},
	} {
		use, err := Scan(0x1000, code(t, c.code))
		if err != nil || !slices.Equal(use.Slot, c.slot) {
			t.Errorf("%s: %v, %v, want %v", c.name, use.Slot, err, c.slot)
		}
	}
}

// TestScanOfCodeThatNoJumpLeadsTo has the shapes of the ends of compiled functions.
func TestScanOfCodeThatNoJumpLeadsTo(t *testing.T) {
	for _, c := range []struct {
		name, code string
		slot       []int
	}{
		// CMPQ SP, 16(R14); JBE grow; frame; CALL panic; grow: 8(SP) = AX; CALL; JMP 0
		{"growth behind a call that never returns",
			"493b6610 760d" + frame + "4883ec08 e800000000 4889442408 e800000000 ebe1", nil},
		{"a case of a jump table", "4883ec18 ffe0 488b442418 4883c418 c3 488b442410 4883c418 c3", []int{6}},
		{"behind a return, where recovery resumes", "4883ec18 4883c418 c3 488b442418 4883c418 c3", []int{9}},
	} {
		use, err := Scan(0x1000, code(t, c.code))
		if err != nil || !slices.Equal(use.Slot, c.slot) {
			t.Errorf("%s: %v, %v, want %v", c.name, use.Slot, err, c.slot)
		}
	}
}

func TestScanSaysWhoIsCalled(t *testing.T) {
	use, err := Scan(0x1000, code(t, "e8fb000000 e8f6000000 7405 e9f0000000 c3"))
	if err != nil || !slices.Equal(use.Calls, []uint64{0x1100, 0x1100}) || !slices.Equal(use.Tails, []uint64{0x1101}) {
		t.Errorf("%+v, %v", use, err)
	}
	if use, _ := Scan(0x1000, code(t, frame+"e9f0000000")); len(use.Tails) != 0 {
		t.Errorf("a jump with a frame is no tail: %+v", use)
	}
}

func TestUnasked(t *testing.T) {
	const asks = 0x1100
	for _, c := range []struct {
		name, code string
		want       bool
	}{
		{"does not use it", "c3", false},
		{"uses it", "488b0424 c3", true},
		{"uses it and asks", "488b0424 e8f7000000 c3", false},
		{"calls another", "488b0424 e800000000 c3", true},
		{"uses it twice, asks once", "488b0424 e8f7000000 488b0424 c3", true},
	} {
		use, err := Scan(0x1000, code(t, c.code))
		if got := use.Unasked(asks); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestScanRefusesWhatDoesNotDecode(t *testing.T) {
	for _, c := range []string{"06", "488b", "c3 06"} {
		if _, err := Scan(0x1000, code(t, c)); err == nil {
			t.Errorf("% s decodes", c)
		}
	}
}
