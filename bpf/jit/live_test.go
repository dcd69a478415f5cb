//go:build linux

package jit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sonde/bpf"
	"sonde/internal/quick"
)

// shortened runs a program both ways, and returns how many bytes of code it has.
func shortened(t *testing.T, text string, v *View) int {
	t.Helper()
	insns, err := bpf.Assemble(strings.ReplaceAll(text, "; ", "\n"))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m := newMachine(t, 0)
	memory := bytes.Repeat([]byte{7, 0xFE, 0xFF, 0xFF, 0xFF, 0, 0, 1}, 8)
	copy(m.memory, memory)
	want, _, err := m.interpreted(insns, memory)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	got, image, err := m.compiled(program(insns), v)
	if err != nil || got != want || !bytes.Equal(m.memory[:len(memory)], memory) {
		t.Fatalf("%s: %#x (%v), want %#x; memory\n%x, want\n%x", text, got, err, want, m.memory[:len(memory)], memory)
	}
	return len(image.Code)
}

// TestWhatNobodyReads: it has no code, and whatever is read is computed.
func TestWhatNobodyReads(t *testing.T) {
	base := shortened(t, "r0 = 5; exit", view())
	for _, text := range []string{"r0 = 6; r0 = 5; exit", "r2 = 1; r2 += 7; r2 *= r2; r0 = 5; exit", "r3 = 81985529216486895 ll; r0 = 5; exit"} {
		if n := shortened(t, text, view()); n != base {
			t.Errorf("%s: %d bytes, want %d", text, n, base)
		}
	}
	for _, text := range []string{
		"r2 = 1; r2 += 7; r0 = r2; exit", "r0 = 3; if r1 != 0 goto out; r0 = 4; out: exit", "r2 = 9; r0 = 3; again: r0 += r2; r2 += -3; if r2 != 0 goto again; exit",
		"r0 = 1; r2 = 5; r2 <<= r0; *(u64 *)(r1 + 0) = r2; exit", "r6 = 7; call f; r0 += r6; exit; f: r6 = 1; r0 = 2; exit",
		"r0 = 9; r2 = 4; lock *(u64 *)(r1 + 8) += r2; exit", "r2 = 1; r1 = 4; call 7; exit",
	} {
		shortened(t, text, view())
	}
}

// TestSums: a number is added to memory by one instruction if nobody needs the sum.
func TestSums(t *testing.T) {
	for text, short := range map[string]bool{
		"r2 = *(u64 *)(r1 + 8); r2 += 1; *(u64 *)(r1 + 8) = r2; r0 = 0; exit":                                 true,
		"r2 = *(u64 *)(r1 + 0); r2 += -100000; *(u64 *)(r1 + 0) = r2; r0 = 0; exit":                           true,
		"r2 = *(u64 *)(r1 + 8); r2 += 1; *(u64 *)(r1 + 8) = r2; r0 = r2; exit":                                false,
		"r2 = *(u64 *)(r1 + 8); r2 += 1; *(u64 *)(r1 + 16) = r2; r0 = 0; exit":                                false,
		"r2 = *(u32 *)(r1 + 8); r2 += 1; *(u32 *)(r1 + 8) = r2; r0 = 0; exit":                                 false,
		"r2 = *(u64 *)(r1 + 8); w2 += 1; *(u64 *)(r1 + 8) = r2; r0 = 0; exit":                                 false,
		"r2 = *(u64 *)(r1 + 8); r2 += r2; *(u64 *)(r1 + 8) = r2; r0 = 0; exit":                                false,
		"r2 = 3; if r1 != 0 goto in; r2 = *(u64 *)(r1 + 8); in: r2 += 1; *(u64 *)(r1 + 8) = r2; r0 = 0; exit": false,
		"r2 = 3; if r1 != 0 goto in; r2 = *(u64 *)(r1 + 8); r2 += 1; in: *(u64 *)(r1 + 8) = r2; r0 = 0; exit": false,
	} {
		insns, err := bpf.Assemble(strings.ReplaceAll(text, "; ", "\n"))
		if err != nil {
			t.Fatal(err)
		}
		image, err := Compile(program(insns), 0, view())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(disassemble(t, image.Code, 0), "; "), "add qword ptr"); got != short {
			t.Errorf("%s: by one instruction: %t", text, got)
		}
		shortened(t, text, view())
	}
}

// TestKnownNotZero: the comparison of what cannot be 0 has no code, unless a jump leads to it.
func TestKnownNotZero(t *testing.T) {
	known := view()
	known.Helper = func(pc int, number int32) (Helper, error) {
		h, err := view().Helper(pc, number)
		h.NotZero = true
		return h, err
	}
	for text, short := range map[string]bool{
		"r1 = 4; call 7; if r0 == 0 goto out; r0 += 1; out: exit":                         true,
		"r1 = 4; call 7; if r0 != 0 goto out; r0 += 1; out: exit":                         true,
		"r1 = 4; call 7; if r0 == 7 goto out; r0 += 1; out: exit":                         false,
		"r0 = 0; if r1 != 0 goto in; call 7; in: if r0 == 0 goto out; r0 += 1; out: exit": false,
		"r1 = 4; call 7; r0 = 0; if r0 == 0 goto out; r0 += 1; out: exit":                 false,
	} {
		if n, all := shortened(t, text, known), shortened(t, text, view()); (n < all) != short {
			t.Errorf("%s: %d bytes, and %d if it is not known", text, n, all)
		}
	}
}

// TestManyLoops: a register is read after many jumps backwards, each of which leads to the one before. What is
// known of that takes no pass for each, and is still computed.
func TestManyLoops(t *testing.T) {
	const loops = 60000
	var b strings.Builder
	b.WriteString("r0 = 0\nr2 = 7\ngotol start\n")
	fmt.Fprintf(&b, "l0: r0 = r2\nexit\n")
	for i := 1; i < loops; i++ {
		fmt.Fprintf(&b, "l%d: goto l%d\n", i, i-1)
	}
	fmt.Fprintf(&b, "start: goto l%d", loops-1)
	insns, err := bpf.Assemble(b.String())
	if err != nil {
		t.Fatal(err)
	}
	quick.Do(t, func() {
		if got, _, err := newMachine(t, 0).compiled(program(insns), view()); err != nil || got != 7 {
			t.Errorf("%d, %v: want 7", got, err)
		}
	})
}
