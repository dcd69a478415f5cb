//go:build linux

package jit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sonde/bpf"
	"sonde/internal/native"
)

func assemble(t testing.TB, text string) []bpf.Insn {
	t.Helper()
	insns, err := bpf.Assemble(strings.ReplaceAll(text, "; ", "\n"))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return insns
}

// TestResults: what random programs do not have.
func TestResults(t *testing.T) {
	for _, flags := range []int{0, native.Low} { // helpers are far, and near
		m := newMachine(t, flags)
		for _, c := range []struct {
			text string
			want uint64
		}{
			{"r0 = r1", m.base()},
			{"r6 = 6; r7 = 7; r8 = 8; r9 = 9; r1 = 1; r2 = 2; r3 = 3; r4 = 4; r5 = 5; call 1; r0 *= 100000; r6 *= 1000; r7 *= 100; r8 *= 10; r0 += r6; r0 += r7; r0 += r8; r0 += r9", 105_06789},
			{"call 8", m.base() + 3*testCPU + 5*testLink},
			{"call f; exit; f: call g; exit; g: call 8", m.base() + 3*testCPU + 5*testLink},
			{"r6 = 6; r1 = subprog[f]; r2 = 2; r3 = 3; call 9; r0 += r6; exit; f: r6 = r1; r7 = r2; call 8; r0 += r6; r0 += r7", m.base() + 3*testCPU + 5*testLink + 11},
			{"r1 = 4; call 7", 7},
			{"*(u64 *)(r10 - 512) = 5; call f; r1 = *(u64 *)(r10 - 512); r0 += r1; exit; f: *(u64 *)(r10 - 512) = 6; r0 = *(u64 *)(r10 - 512)", 11},
			{"*(u64 *)(r10 - 8) = 5; call 5; r1 = *(u64 *)(r10 - 8); r0 += r1", 6},
			{"r0 = 1; r6 = 3; again: r0 *= 2; r6 -= 1; if r6 != 0 goto again", 8},
			{"goto start; start: r0 = 3", 3},
			{"r6 = 6; r7 = 7; r8 = 8; r9 = 9; call f; r0 = r6; r0 *= r7; r0 *= r8; r0 *= r9; exit; f: call 5", 6 * 7 * 8 * 9},
			{"r0 = 0x500000001 ll; *(u64 *)(r10 - 8) = 1; r2 = 9; w0 = cmpxchg32_32(r10 - 8, w0, w2); r2 = *(u64 *)(r10 - 8); r2 <<= 8; r0 += r2", 9<<8 + 1},
			{"r0 = 0x500000001 ll; *(u64 *)(r10 - 8) = r0; r2 = 9; r0 = cmpxchg_64(r10 - 8, r0, r2); r2 = *(u64 *)(r10 - 8); r2 <<= 8; r0 += r2", 5<<32 + 9<<8 + 1},
			{"r2 = -1; r0 = -9223372036854775808 ll; r0 s/= r2; r3 = 0x8000000000000000 ll; r3 s%= r2; r0 += r3", 1 << 63},
			{"w2 = -1; w0 = -2147483648; w0 s/= w2; w3 = -2147483648; w3 s%= w2; r0 += r3", 1 << 31},
			{"call a; r0 += 1; exit; a: call b; r0 += 1; exit; b: call c; r0 += 1; exit; c: call d; r0 += 1; exit; d: call e; r0 += 1; exit; e: call f; r0 += 1; exit; f: call g; r0 += 1; exit; g: r0 = 1", 8},
		} {
			p := program(assemble(t, c.text+"; exit"))
			if got, _, err := m.compiled(p, view()); err != nil || got != c.want {
				t.Errorf("%s: got %#x (%v), want %#x", c.text, got, err, c.want)
			}
		}
	}
}

// TestContext: loads that are said to be from the context go where the view says.
func TestContext(t *testing.T) {
	m := newMachine(t, 0)
	for i := range m.memory[:256] {
		m.memory[i] = byte(i)
	}
	p := program(assemble(t, "r2 = r1; r2 += 8; r0 = *(u8 *)(r2 + 4); r3 = *(u8 *)(r1 + 12); r0 <<= 8; r0 |= r3; exit"))
	p.Ctx = []CtxLoad{{PC: 2, Off: 12}}
	v := view()
	v.Context = func(off int32, size int) (int32, error) {
		if off != 12 || size != 1 {
			return 0, fmt.Errorf("%d bytes at %d are not there", size, off)
		}
		return 200, nil
	}
	if got, _, err := m.compiled(p, v); err != nil || got != 200<<8|12 {
		t.Errorf("got %#x (%v), want %#x", got, err, 200<<8|12)
	}
	p.Ctx[0].Off = 13
	if _, err := Compile(p, 0, v); err == nil || err.Error() != "instruction 2 (r0 = *(u8 *)(r2 + 4)): 1 bytes at 13 are not there" {
		t.Errorf("a view without the field: got the error %v", err)
	}
	p.Ctx[0].PC = 1
	if _, err := Compile(p, 0, v); err == nil {
		t.Error("a context load that is none: got no error")
	}
}

// TestDistances: jumps are short up to 127 bytes and long from there, forward and back; a chain
// of jumps of which each makes the next one long still ends.
func TestDistances(t *testing.T) {
	m := newMachine(t, 0)
	for n := range 300 {
		body := strings.Repeat("r0 = 1 ll\n", n/6) + strings.Repeat("w2 += w3\n", n%6)
		text := "r0 = 0\nr6 = 3\nagain: r6 -= 1\nif r6 == 0 goto end\n" + body + "r0 = r6\ngoto again\nend: r0 += 5\nexit"
		if got, _, err := m.compiled(program(assemble(t, text)), view()); err != nil || got != 6 {
			t.Fatalf("%d: got %#x (%v), want 6", n, got, err)
		}
	}
	var chain strings.Builder
	for i := range 400 {
		fmt.Fprintf(&chain, "l%d: if r1 == %d goto l%d\n", i, i, min(i+26, 400))
	}
	text := "r1 = 0\n" + chain.String() + "l400: r0 = 7\nexit"
	got, image, err := m.compiled(program(assemble(t, text)), view())
	if err != nil || got != 7 {
		t.Errorf("a chain of jumps: got %#x (%v), want 7", got, err)
	}
	t.Logf("a chain of jumps takes %d bytes", len(image.Code))
}

// TestShort: programs are as short as can be expected.
func TestShort(t *testing.T) {
	for text, want := range map[string]string{
		"r0 = 0; exit":                        "push rbp; mov rbp, rsp; xor eax, eax; leave; ret",
		"r0 = *(u64 *)(r1 + 8); exit":         "push rbp; mov rbp, rsp; mov r8, rbx; mov rax, qword ptr [r8+0x8]; leave; ret",
		"*(u32 *)(r10 - 4) = 1; w0 = 0; exit": "push rbp; mov rbp, rsp; sub rsp, 0x8; lea r15, ptr [rbp]; mov dword ptr [r15-0x4], 0x1; xor eax, eax; leave; ret",
	} {
		p := program(assemble(t, text))
		p.Stack[0] = strings.Count(text, "r10") * 4
		image, err := Compile(p, 0, view())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(disassemble(t, image.Code, 0), "; "); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestPC: the code that makes a function's frame belongs to its first instruction, and the entries
// for helpers to none.
func TestPC(t *testing.T) {
	insns := assemble(t, "r1 = subprog[f]; goto over; over: r0 = 1; exit; f: r0 = 2; exit")
	image, err := Compile(program(insns), 0, view())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for off := range image.Code {
		if pc, ok := image.PC(off); ok {
			got += fmt.Sprint(pc)
		} else {
			got += "-"
		}
	}
	want := strings.Repeat("0", image.Offsets[1]) + "3333344" + strings.Repeat("5", image.Offsets[6]-image.Offsets[4]-2) + "66"
	if want += strings.Repeat("-", len(image.Code)-len(want)); got != want || len(image.Code) == image.Offsets[7] {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, off := range []int{-1, len(image.Code)} {
		if pc, ok := image.PC(off); ok {
			t.Errorf("offset %d is said to be of instruction %d", off, pc)
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "the program has no instructions: expected at least exit",
		"r0 = 1":                           "instruction 0 (r0 = 1): goes on behind the end of the function",
		"r0 = 1 ll":                        "instruction 0 (r0 = 0x1 ll): goes on behind the end of the function",
		"goto +1; exit":                    "instruction 0 (goto +1): goes on at 2, where no instruction of this function begins",
		"goto -2; exit":                    "instruction 0 (goto -2): goes on at -1, where no instruction of this function begins",
		"goto +1; r0 = 1 ll; exit":         "instruction 0 (goto +1): goes on at 2, where no instruction of this function begins",
		"call f; goto f; f: r0 = 1; exit":  "instruction 1 (goto +0): goes on at 2, where no instruction of this function begins",
		"call f; r0 = 1; f: r0 = 1; exit":  "instruction 1 (r0 = 1): goes on behind the end of the function",
		"call pc+1; exit":                  "instruction 0 (call pc+1): there is no function at 2: no instruction begins there",
		"call pc-1; exit":                  "instruction 0 (call pc-1): calls the first function, which only the kernel can call",
		"r1 = subprog[+7]; exit":           "instruction 0 (r1 = subprog[+7]): there is no function at 8: no instruction begins there",
		"call 99; exit":                    "instruction 0 (call 99): no helper has the number 99",
		"call kfunc[id:3]; exit":           "instruction 0 (call kfunc[id:3]): calls a function of a kernel, and there is none",
		"r1 = map[fd:3]; exit":             "instruction 0 (r1 = map[fd:3]): loads what a loader has to resolve, and there is none",
		"r10 = 1; exit":                    "instruction 0 (r10 = 1): writes R10, which is read-only",
		"r10 = 1 ll; exit":                 "instruction 0 (r10 = 0x1 ll): writes R10, which is read-only",
		"r10 = *(u64 *)(r1 + 0); exit":     "instruction 0 (r10 = *(u64 *)(r1 + 0)): writes R10, which is read-only",
		"r10 = xchg_64(r1 + 0, r10); exit": "instruction 0 (r10 = xchg_64(r1 + 0, r10)): writes R10, which is read-only",
	} {
		if _, err := Compile(program(assemble(t, text)), 0, view()); err == nil || err.Error() != want {
			t.Errorf("%s: got the error %v, want %s", text, err, want)
		}
	}
}

// TestRefusesInput: what does not fit the instructions.
func TestRefusesInput(t *testing.T) {
	insns := assemble(t, "call 1; r1 = map[fd:3]; exit")
	bad := errors.New("out of order")
	for name, c := range map[string]struct {
		p *Program
		v View
	}{
		"no stack":           {&Program{Insns: insns}, *view()},
		"too much stack":     {&Program{Insns: insns, Stack: []int{513}}, *view()},
		"no helpers":         {program(insns), View{}},
		"an empty helper":    {program(insns), View{Helper: func(int, int32) (Helper, error) { return Helper{}, nil }}},
		"no such map":        {program(insns), View{Helper: view().Helper, Resolve: func(_, _ bpf.Insn) (uint64, error) { return 0, bad }}},
		"not an instruction": {program([]bpf.Insn{{Op: 0x8D}}), *view()},
	} {
		if _, err := Compile(c.p, 0, &c.v); err == nil {
			t.Errorf("%s: got no error", name)
		} else if name == "no such map" && !errors.Is(err, bad) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
}

// FuzzCompile: no instructions make the compiler panic, and what it makes are instructions.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"r0 = *(u64 *)(r1 + 0); exit", "r1 = subprog[f]; call 9; exit; f: w0 s/= w1; exit"} {
		f.Add(bpf.Encode(assemble(f, text)))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		insns, err := bpf.Decode(code[:len(code)&^7])
		if err != nil {
			t.Fatal(err)
		}
		image, err := Compile(program(insns), 0x400000, view())
		if err != nil {
			return
		}
		disassemble(t, image.Code, 0x400000)
		for off := range image.Code {
			if pc, ok := image.PC(off); ok && (pc < 0 || pc >= len(insns)) {
				t.Errorf("offset %d is said to be of instruction %d", off, pc)
			}
		}
	})
}
