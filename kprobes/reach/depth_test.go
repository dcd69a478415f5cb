package reach

import (
	"slices"
	"testing"

	"sonde/arch/amd64/insn"
)

func TestFrames(t *testing.T) {
	for code, want := range map[string]int{
		"\x55": 8, "\x41\x57": 8, "\x9c": 8, "\x6a\x01": 8, "\x68\x00\x00\x00\x00": 8, "\xff\x30": 8, // PUSH
		"\x5d": 0, "\xe8\x00\x00\x00\x00": 0, "\xc3": 0,
		"\x48\x83\xec\x20":             0x20,   // SUBQ $0x20, SP
		"\x48\x81\xec\x00\x10\x00\x00": 0x1000, // SUBQ $0x1000, SP
		"\x48\x83\xc4\x80":             0x80,   // ADDQ $-0x80, SP
		"\x48\x83\xc4\x20":             0,      // ADDQ $0x20, SP
		"\x48\x83\xe4\xf0":             0,      // ANDQ $-16, SP
		"\x49\x83\xec\x20":             0,      // SUBQ $0x20, R12
		"\x48\x8d\x64\x24\xc0":         0x40,   // LEAQ -0x40(SP), SP
		"\x48\x8d\x6c\x24\xc0":         0,      // LEAQ -0x40(SP), BP
	} {
		in, err := insn.Decode([]byte(code))
		if got := frame(&in); err != nil || got != want {
			t.Errorf("% x: %d bytes, want %d; %v", code, got, want, err)
		}
	}
}

// TestDepthIsOfTheDeepestWay: shallow calls deep; a and b call each other, and c; what is
// cold does not count.
func TestDepthIsOfTheDeepestWay(t *testing.T) {
	const sub64 = "\x48\x83\xec\x40"
	f := &fake{}
	f.add("sonde/arch/amd64/trap.entry", f.call(0, 1)+f.call(5, 2)+f.call(10, 5)+ret)
	f.add("x/shallow", "\x55"+ret)
	f.add("x/a", "\x55"+f.call(1, 3)+f.call(6, 1)+ret)
	f.add("x/b", sub64+f.call(4, 2)+f.call(9, 4)+ret)
	f.add("x/c", sub64+ret)
	f.add("sonde/kernel/printk.Emerg", "\x48\x81\xec\x00\x10\x00\x00"+f.call(7, 4)+ret)
	n, path := f.graph(t).TrapDepth()
	if want := 8 + 8 + 8 + (8 + 64) + (8 + 64); n != want {
		t.Errorf("%d bytes, want %d", n, want)
	}
	if want := []string{"sonde/arch/amd64/trap.entry", "x/a", "x/b", "x/c"}; len(path) != 4 || path[0] != want[0] || path[3] != want[3] || !slices.Contains(path, "x/b") {
		t.Errorf("by %q, want %q", path, want)
	}
}
