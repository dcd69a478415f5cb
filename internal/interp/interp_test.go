package interp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sonde/bpf"
)

// machine returns a machine for the program, with 16 bytes of memory that can be written at
// 0x1000, 4 that cannot at 0x2000, and helpers: 1 adds its arguments, 2 calls the function R1
// with R2, 3 fails, 4 writes what is at R1 to R2.
func machine(t *testing.T, text string) *Machine {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m, err := New(insns)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m.Regions = []Region{
		{Name: "data", Base: 0x1000, Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 0x88, 0xF1, 0xF2, 0xF3, 0xF4, 0, 0, 0, 0}, Writable: true},
		{Name: "const", Base: 0x2000, Bytes: []byte{9, 9, 9, 9}},
	}
	m.Helpers = map[int32]Helper{
		1: func(_ *Machine, a [5]uint64) (uint64, error) { return a[0] + a[1] + a[2] + a[3] + a[4], nil },
		2: func(m *Machine, a [5]uint64) (uint64, error) { return m.Call(int(a[0]), a[1]) },
		3: func(*Machine, [5]uint64) (uint64, error) { return 0, errors.New("out of order") },
		4: func(m *Machine, a [5]uint64) (uint64, error) {
			data, err := m.Read(a[0], 8)
			if err != nil {
				return 0, err
			}
			return 0, m.Write(a[1], data)
		},
	}
	return m
}

// program makes lines of "a; b; c".
func program(s string) string { return strings.ReplaceAll(s, "; ", "\n") }

func TestResults(t *testing.T) {
	const minus1 = ^uint64(0)
	for _, c := range []struct {
		text string // R1 is 0x1000
		want uint64
	}{
		{"r0 = -1", minus1},
		{"w0 = -1", 0xFFFFFFFF},
		{"r0 = 0x123456789abcdef0 ll", 0x123456789ABCDEF0},
		{"r0 = 1; r0 -= 2", minus1},
		{"w0 = 1; w0 -= 2", 0xFFFFFFFF},
		{"r0 = 0x100000000 ll; w0 += 0", 0},
		{"r0 = -1; r0 *= r0", 1},
		{"r0 = 0xfffffffffffffffe ll; r0 /= -1", 0},
		{"r0 = -7; r0 s/= 2", 0xFFFFFFFFFFFFFFFD},
		{"r0 = -7; r0 s%= 2", minus1},
		{"r0 = 7; r0 s%= -4", 3},
		{"w0 = -7; w0 s/= 2", 0xFFFFFFFD},
		{"w0 = -7; w0 /= 2", 0x7FFFFFFC},
		{"r0 = 5; r2 = 0; r0 /= r2", 0},
		{"r0 = 5; r2 = 0; r0 %= r2", 5},
		{"r0 = -5; r2 = 0; r0 s/= r2", 0},
		{"r0 = -5; r2 = 0; w0 s%= w2", 0xFFFFFFFB},
		{"r0 = 5; r2 = 0x100000000 ll; w0 /= w2", 0},
		{"r0 = 0x8000000000000000 ll; r0 s/= -1", 1 << 63},
		{"r0 = 0x8000000000000000 ll; r0 s%= -1", 0},
		{"w0 = -2147483648; w0 s/= -1", 1 << 31},
		{"w0 = -2147483648; w0 s%= -1", 0},
		{"r0 = 1; r2 = 65; r0 <<= r2", 2},
		{"w0 = 1; w2 = 33; w0 <<= w2", 2},
		{"r0 = -1; r0 >>= 60", 15},
		{"r0 = -1; w0 >>= 28", 15},
		{"r0 = -16; r0 s>>= 2", 0xFFFFFFFFFFFFFFFC},
		{"w0 = -16; w0 s>>= 2", 0xFFFFFFFC},
		{"r0 = 6; r0 |= 9", 15},
		{"r0 = 6; r0 &= -4", 4},
		{"r0 = 6; r0 ^= -1", 0xFFFFFFFFFFFFFFF9},
		{"r0 = 6; r0 = -r0", 0xFFFFFFFFFFFFFFFA},
		{"w0 = 6; w0 = -w0", 0xFFFFFFFA},
		{"r2 = 0x1ff; r0 = (s8)r2", minus1},
		{"r2 = 0x18000; r0 = (s16)r2", 0xFFFFFFFFFFFF8000},
		{"r2 = 0x80000000 ll; r0 = (s32)r2", 0xFFFFFFFF80000000},
		{"r2 = 0x1ff; w0 = (s8)w2", 0xFFFFFFFF},
		{"r0 = 0x1122334455667788 ll; r0 = be16 r0", 0x8877},
		{"r0 = 0x1122334455667788 ll; r0 = be32 r0", 0x88776655},
		{"r0 = 0x1122334455667788 ll; r0 = be64 r0", 0x8877665544332211},
		{"r0 = 0x1122334455667788 ll; r0 = le16 r0", 0x7788},
		{"r0 = 0x1122334455667788 ll; r0 = le32 r0", 0x55667788},
		{"r0 = 0x1122334455667788 ll; r0 = le64 r0", 0x1122334455667788},
		{"r0 = 0x1122334455667788 ll; r0 = bswap16 r0", 0x8877},
		{"r0 = 0x1122334455667788 ll; r0 = bswap64 r0", 0x8877665544332211},

		{"r0 = *(u8 *)(r1 + 8)", 0xF1},
		{"r0 = *(u16 *)(r1 + 8)", 0xF2F1},
		{"r0 = *(u32 *)(r1 + 8)", 0xF4F3F2F1},
		{"r0 = *(u64 *)(r1 + 0)", 0x8807060504030201},
		{"r0 = *(s8 *)(r1 + 8)", 0xFFFFFFFFFFFFFFF1},
		{"r0 = *(s16 *)(r1 + 8)", 0xFFFFFFFFFFFFF2F1},
		{"r0 = *(s32 *)(r1 + 8)", 0xFFFFFFFFF4F3F2F1},
		{"*(u64 *)(r1 + 0) = -2; r0 = *(u64 *)(r1 + 0)", minus1 - 1},
		{"*(u16 *)(r1 + 0) = -1; r0 = *(u32 *)(r1 + 0)", 0x0403FFFF},
		{"r2 = -1; *(u8 *)(r1 + 1) = r2; r0 = *(u32 *)(r1 + 0)", 0x0403FF01},
		{"*(u64 *)(r10 - 512) = 7; r0 = *(u64 *)(r10 - 512)", 7},
		{"r1 += 4096; r0 = *(u32 *)(r1 + 0)", 0x09090909},

		{"r0 = 1; lock *(u32 *)(r1 + 0) += w0; r0 = *(u64 *)(r1 + 0)", 0x8807060504030202},
		{"r0 = -1; lock *(u64 *)(r1 + 8) ^= r0; r0 = *(u64 *)(r1 + 8)", 0xFFFFFFFF0B0C0D0E},
		{"r0 = -1; w0 = atomic_fetch_or((u32 *)(r1 + 8), w0)", 0xF4F3F2F1},
		{"r0 = 15; r0 = atomic_fetch_and((u64 *)(r1 + 0), r0); r0 = *(u64 *)(r1 + 0)", 1},
		{"r0 = 9; r0 = xchg_64(r1 + 0, r0)", 0x8807060504030201},
		{"r0 = -1; w0 = xchg32_32(r1 + 0, w0)", 0x04030201},
		{"r0 = 0x504030201 ll; r2 = 0; w0 = cmpxchg32_32(r1 + 0, w0, w2); r0 = *(u64 *)(r1 + 0)", 0x8807060500000000},
		{"r0 = 0; r2 = 0; r0 = cmpxchg_64(r1 + 0, r0, r2); r2 = *(u64 *)(r1 + 0); r0 -= r2", 0},

		{"r1 = 1; r2 = 2; r3 = 3; r4 = 4; r5 = 5; call 1", 15},
		{"r6 = 7; r1 = 1; call f; r0 += r6; exit; f: r6 = 9; r0 = r1", 8},
		{"*(u64 *)(r10 - 8) = 1; r1 = r10; call f; r0 = *(u64 *)(r10 - 8); exit; f: *(u64 *)(r1 - 8) = 2", 2},
		{"r1 = subprog[f]; r2 = 20; call 2; r0 += 1; exit; f: r1 += r1; r0 = r1", 41},
		{"r2 = r10; r2 -= 8; call 4; r0 = *(u8 *)(r10 - 8)", 1},
		{"r0 = 0; again: r0 += 1; if r0 < 10 goto again", 10},
		{"r0 = 1; gotol over; r0 = 2; over: r0 += 1", 2},
	} {
		m := machine(t, program(c.text)+"\nexit")
		if got, err := m.Run(0x1000); err != nil || got != c.want {
			t.Errorf("%s: got %#x (%v), want %#x", c.text, got, err, c.want)
		}
	}
}

// TestComparisons: which of <, ==, > hold for pairs of numbers, for all comparisons.
func TestComparisons(t *testing.T) {
	numbers := []int64{0, 1, -1, 1 << 31, -1 << 31, 1<<32 + 1, -1 << 63, 1<<63 - 1}
	results := map[string]func(a, b int64, ua, ub uint64) bool{
		"==": func(a, b int64, _, _ uint64) bool { return a == b }, "!=": func(a, b int64, _, _ uint64) bool { return a != b },
		">": func(_, _ int64, a, b uint64) bool { return a > b }, ">=": func(_, _ int64, a, b uint64) bool { return a >= b },
		"<": func(_, _ int64, a, b uint64) bool { return a < b }, "<=": func(_, _ int64, a, b uint64) bool { return a <= b },
		"s>": func(a, b int64, _, _ uint64) bool { return a > b }, "s>=": func(a, b int64, _, _ uint64) bool { return a >= b },
		"s<": func(a, b int64, _, _ uint64) bool { return a < b }, "s<=": func(a, b int64, _, _ uint64) bool { return a <= b },
		"&": func(_, _ int64, a, b uint64) bool { return a&b != 0 },
	}
	for sign, want := range results {
		for _, width := range []string{"r", "w"} {
			m := machine(t, fmt.Sprintf("if %s1 %s %s2 goto yes\nr0 = 0\nexit\nyes: r0 = 1\nexit", width, sign, width))
			for _, a := range numbers {
				for _, b := range numbers {
					holds := want(a, b, uint64(a), uint64(b))
					if width == "w" {
						holds = want(int64(int32(a)), int64(int32(b)), uint64(uint32(a)), uint64(uint32(b)))
					}
					if got, err := m.Run(uint64(a), uint64(b)); err != nil || (got == 1) != holds {
						t.Errorf("%s1 = %#x %s %#x: got %d (%v), want %v", width, a, sign, b, got, err, holds)
					}
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"r0 = r5", "instruction 0 (r0 = r5): reads R5, which was not written"},
		{"r10 = 5", "instruction 0 (r10 = 5): writes R10, which is read-only"},
		{"r9 = 5", "instruction 1 (exit): returns R0, which was not written"},
		{"r0 = *(u64 *)(r1 + 9)", "instruction 0 (r0 = *(u64 *)(r1 + 9)): reading 8 bytes at 0x1009: data ends 7 bytes behind this address"},
		{"r0 = *(u8 *)(r1 - 1)", "instruction 0 (r0 = *(u8 *)(r1 - 1)): reading 1 bytes at 0xfff: no memory is there"},
		{"r0 = *(u8 *)(r1 + 16)", "instruction 0 (r0 = *(u8 *)(r1 + 16)): reading 1 bytes at 0x1010: no memory is there"},
		{"r2 = -1; r0 = *(u64 *)(r2 + 0)", "instruction 1 (r0 = *(u64 *)(r2 + 0)): reading 8 bytes at 0xffffffffffffffff: no memory is there"},
		{"*(u8 *)(r1 + 4096) = 1", "instruction 0 (*(u8 *)(r1 + 4096) = 1): writing 1 bytes at 0x2000: const is read-only"},
		{"r0 = 0; lock *(u32 *)(r1 + 4096) += w0", "instruction 1 (lock *(u32 *)(r1 + 4096) += w0): writing 4 bytes at 0x2000: const is read-only"},
		{"r0 = 0; lock *(u32 *)(r1 + 2) += w0", "instruction 1 (lock *(u32 *)(r1 + 2) += w0): an atomic access of 4 bytes at 0x1002, which is not aligned"},
		{"*(u8 *)(r10 - 8) = 1; r0 = *(u16 *)(r10 - 8)", "instruction 1 (r0 = *(u16 *)(r10 - 8)): reading 2 bytes at 0x7ffefffffff8: not all of this stack was written before"},
		{"*(u64 *)(r10 - 4) = 1", "instruction 0 (*(u64 *)(r10 - 4) = 1): writing 8 bytes at 0x7ffefffffffc: the stack ends 4 bytes behind this address"},
		{"*(u8 *)(r10 - 513) = 1", "instruction 0 (*(u8 *)(r10 - 513) = 1): writing 1 bytes at 0x7ffefffffdff: no memory is there"},
		{"call 9", "instruction 0 (call 9): no helper has the number 9"},
		{"call 3", "instruction 0 (call 3): helper 3: out of order"},
		{"call kfunc[id:9]", "instruction 0 (call kfunc[id:9]): calls a function of a kernel, and there is none"},
		{"r2 = 0; call 1; r0 = r1", "instruction 2 (r0 = r1): reads R1, which was not written"},
		{"r2 = 0x3000; call 4", "instruction 1 (call 4): helper 4: writing 8 bytes at 0x3000: no memory is there"},
		{"r6 = 1; call f; exit; f: r0 = r6", "instruction 3 (r0 = r6): reads R6, which was not written"},
		{"call f; r0 = *(u64 *)(r0 - 8); exit; f: *(u64 *)(r10 - 8) = 1; r0 = r10", "instruction 1 (r0 = *(u64 *)(r0 - 8)): reading 8 bytes at 0x7ffefffffbf8: no memory is there"},
		{"call f; r0 += 1; exit; f: r1 = 1", "instruction 1 (r0 += 1): reads R0, which was not written"},
		{"call f; r0 = r1; exit; f: r0 = 1", "instruction 1 (r0 = r1): reads R1, which was not written"},
		{"call pc-1", "instruction 0 (call pc-1): calling 0: 8 functions are in progress, and no more can be"},
		{"call pc+7", "instruction 0 (call pc+7): calling 8: no instruction begins there"},
		{"r1 = subprog[f]; call 2; exit; f: r2 = r9", "instruction 4 (r2 = r9): reads R9, which was not written"},
		{"r1 = map[fd:5]", "instruction 0 (r1 = map[fd:5]): loads what a loader has to resolve, and there is none"},
		{"goto +1; r0 = 5 ll", "instruction 0 (goto +1): goes on at 2, where no instruction begins"},
		{"goto -2", "instruction 0 (goto -2): goes on at -1, where no instruction begins"},
		{"r0 = 0; goto +1", "instruction 1 (goto +1): goes on at 3, where no instruction begins"},
		{"goto -1", "instruction 0 (goto -1): is not executed: 1000 instructions were, and that is the limit"},
	} {
		m := machine(t, program(c.text)+"\nexit")
		m.Limit = 1000
		got, err := m.Run(0x1000)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %#x, error %q, want %q", c.text, got, err, c.want)
		}
	}
}

// TestRefusedWritesNothing: what is refused leaves memory as it was.
func TestRefusedWritesNothing(t *testing.T) {
	for _, text := range []string{"*(u64 *)(r1 + 12) = -1", "*(u64 *)(r1 + 0) = r9", "lock *(u64 *)(r1 + 0) += r9"} {
		m := machine(t, text+"\nexit")
		before := string(m.Regions[0].Bytes)
		if _, err := m.Run(0x1000); err == nil || string(m.Regions[0].Bytes) != before {
			t.Errorf("%s: got %x and error %v, want %x and an error", text, m.Regions[0].Bytes, err, before)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, insns := range [][]bpf.Insn{nil, {{Op: 0x8D}}, {{Op: uint8(bpf.LD) | bpf.Imm64 | bpf.DW}}} {
		if _, err := New(insns); err == nil {
			t.Errorf("%v: got no error", insns)
		}
	}
}

func TestSteps(t *testing.T) {
	m := machine(t, "r0 = 5 ll\ncall f\nexit\nf: r0 = 1\nexit")
	if _, err := m.Run(); err != nil || m.Steps != 5 {
		t.Errorf("got %d instructions (%v), want 5", m.Steps, err)
	}
	m.Limit = 5
	if _, err := m.Run(); err != nil {
		t.Errorf("5 instructions with the limit 5: %v", err)
	}
	m.Limit = 4
	if _, err := m.Run(); err == nil {
		t.Errorf("5 instructions with the limit 4: got no error")
	}
}

// TestFrames: a recursion gets as deep as is allowed, and no deeper.
func TestFrames(t *testing.T) {
	m := machine(t, "call pc-1\nexit")
	if _, err := m.Run(); err == nil || m.Steps != MaxFrames {
		t.Errorf("got %d calls (%v), want %d, of which the last is refused", m.Steps, err, MaxFrames)
	}
}

func TestResolve(t *testing.T) {
	m := machine(t, "r0 = map[fd:5][0]+16\nexit")
	m.Resolve = func(first, second bpf.Insn) (uint64, error) {
		return uint64(first.Src())<<32 | uint64(first.Imm)<<16 | uint64(second.Imm), nil
	}
	if got, err := m.Run(); err != nil || got != 0x200050010 {
		t.Errorf("got %#x (%v), want 0x200050010", got, err)
	}
	m.Resolve = func(bpf.Insn, bpf.Insn) (uint64, error) { return 0, errors.New("no such map") }
	if got, err := m.Run(); err == nil || !strings.HasSuffix(err.Error(), ": no such map") {
		t.Errorf("got %#x (%v), want the error of Resolve", got, err)
	}
}

// FuzzRun: no program makes the machine panic or run on, and memory that is read-only stays.
func FuzzRun(f *testing.F) {
	for _, text := range []string{"r0 = *(u64 *)(r1 + 0)\nexit", "call pc-1\nexit", "r2 = r10\nr2 += -8\ncall 4\nr0 = 0\nexit"} {
		insns, err := bpf.Assemble(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bpf.Encode(insns))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		insns, err := bpf.Decode(code[:len(code)&^7])
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := New(insns)
		if err != nil {
			return
		}
		m := machine(t, "exit")
		fixed.Regions, fixed.Helpers, fixed.Limit = m.Regions, m.Helpers, 500
		if _, err = fixed.Run(0x1000, 0x2000); err != nil && !errors.As(err, new(*Error)) {
			t.Errorf("the error %q names no instruction", err)
		}
		if fixed.Steps > 500 || string(m.Regions[1].Bytes) != "\t\t\t\t" {
			t.Errorf("%d steps, read-only memory %x", fixed.Steps, m.Regions[1].Bytes)
		}
	})
}
