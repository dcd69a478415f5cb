//go:build linux

package jit

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"sonde/bpf"
	"sonde/bpf/random"
	"sonde/internal/interp"
	"sonde/internal/native"
)

// chain is programs that continue as each other: each is at its index of the only map.
type chain struct {
	m        *machine
	programs [][]bpf.Insn // nil: there is none at this index
	cost     uint32       // of each
	credit   uint32
	cut      []byte
}

// tableSize is how many indices there are.
const tableSize = 64

// interpreted runs the first program by the interpreter.
func (c *chain) interpreted(memory []byte) (uint64, error) {
	regions := []interp.Region{{Name: "the memory", Base: c.m.base(), Bytes: memory, Writable: true}}
	var machines [tableSize]*interp.Machine
	for i, insns := range c.programs {
		if insns == nil {
			continue
		}
		var err error
		if machines[i], err = interp.New(insns); err != nil {
			return 0, err
		}
	}
	first := machines[0]
	first.Regions, first.Helpers = regions, interpHelpers(c.m)
	first.Tail = func(args [5]uint64) *interp.Machine {
		if i := uint32(args[2]); i < tableSize {
			return machines[i]
		}
		return nil
	}
	return first.Run(c.m.base())
}

// compiled runs the first program by the machine code of all.
func (c *chain) compiled(t *testing.T) (uint64, error) {
	t.Helper()
	table := native.Memory(t, 4096, 0)
	v := view()
	ours := v.Helper
	v.Credit = c.credit
	v.Helper = func(pc int, number int32) (Helper, error) {
		if number != bpf.TailCall {
			return ours(pc, number)
		}
		code := []byte{0x89, 0xC9, 0x31, 0xC0, 0x83, 0xF9, tableSize, 0x73, 14, 0x48, 0xBA} // mov CX, CX; xor AX, AX; cmp CX, $64; jae end; mov $table, DX
		code = binary.LittleEndian.AppendUint64(code, uint64(native.AddressOf(table)))
		return Helper{Inline: append(code, 0x48, 0x8B, 0x04, 0xCA), Tail: true, Cut: c.cut}, nil // mov (DX)(CX*8), AX; end:
	}
	v.Enter = []byte{0x48, 0x83, 0xC3, 0x08} // add $8, BX: once
	at, deepest := 0, 0
	var first uintptr
	for i, insns := range c.programs {
		if insns == nil {
			continue
		}
		entry := native.AddressOf(c.m.page[at:])
		image, err := Compile(program(insns), entry, v)
		if err != nil {
			return 0, err
		}
		at += copy(c.m.page[at:], image.Code)
		at += copy(c.m.page[at:], binary.LittleEndian.AppendUint32(nil, c.cost))
		binary.LittleEndian.PutUint64(table[8*i:], uint64(native.AddressOf(c.m.page[at:])))
		at += copy(c.m.page[at:], binary.LittleEndian.AppendUint32([]byte{0xE9}, uint32(int(entry)+image.Tail-int(native.AddressOf(c.m.page[at+5:])))))
		if deepest = max(deepest, depth(image)); i == 0 {
			first = entry
		}
	}
	return c.m.native.Call(first, testLink, c.m.base()-8, deepest)
}

// compare runs a chain both ways, and returns what it leaves.
func (c *chain) compare(t *testing.T, what string) (r0 uint64, memory []byte) {
	t.Helper()
	memory = bytes.Clone(c.m.memory)
	want, err := c.interpreted(memory)
	if err != nil {
		t.Fatalf("%s: the interpreter refuses it: %v", what, err)
	}
	got, err := c.compiled(t)
	if err != nil || got != want || !bytes.Equal(c.m.memory, memory) {
		t.Fatalf("%s: got %#x (%v), want %#x; memory\n%x, want\n%x", what, got, err, want, c.m.memory[:128], memory[:128])
	}
	return got, memory
}

// goes is a program that counts at the word of its context, and continues as the one at an index.
const goes = "r6 = *(u64 *)(r1 + 0); r6 += 1; *(u64 *)(r1 + 0) = r6; r2 = 0; r3 = NEXT; call 12; r0 = r6; exit"

// TestTailCalls: where programs continue, and how often.
func TestTailCalls(t *testing.T) {
	next := func(index string) string { return strings.ReplaceAll(goes, "NEXT", index) }
	for _, c := range []struct {
		what     string
		programs []string
		want     uint64
	}{
		{"one that ends", []string{next("2"), "", "r0 = *(u64 *)(r1 + 0); r0 += 100; exit"}, 101},
		{"an index without a program", []string{next("1"), ""}, 1},
		{"an index behind the last", []string{next("64")}, 1},
		{"a large index", []string{next("-1")}, 1},
		{"an index whose high half is not looked at", []string{next("0x500000001 ll"), "r0 = 7; exit"}, 7},
		{"itself, for ever", []string{"*(u64 *)(r10 - 8) = 0; *(u64 *)(r10 - 512) = 0; " + next("0")}, 34},
		{"two that change over", []string{next("1"), next("0")}, 34},
		{"33 that end", append(forward(33), "r0 = 1000; exit"), 1000},
		{"34 that would end", append(forward(34), "r0 = 1000; exit"), 34},
		{"one that calls functions and helpers, and has much stack", []string{
			"r6 = r1; r7 = 7; r1 = 4; call 7; r8 = r0; r1 = r6; r2 = 0; r3 = 1; call 12; r0 = 0; exit",
			"r6 = r1; *(u64 *)(r10 - 512) = 3; r1 = 5; call f; r1 = *(u64 *)(r10 - 512); r0 += r1; r7 = r0; call 8; r0 -= r6; r0 += r7; exit; f: r6 = 1; r0 = r1; call 5; r0 += r6; exit"},
			3 + 2 + 3*testCPU + 5*testLink},
	} {
		m := newMachine(t, 0)
		ch := chain{m: m, credit: 1 << 30}
		for _, text := range c.programs {
			if text == "" {
				ch.programs = append(ch.programs, nil)
				continue
			}
			ch.programs = append(ch.programs, assemble(t, text))
		}
		if got, _ := ch.compare(t, c.what); got != c.want {
			t.Errorf("%s: got %#x, want %#x", c.what, got, c.want)
		}
	}
}

// forward makes n programs, each of which continues as the next.
func forward(n int) (texts []string) {
	for i := range n {
		texts = append(texts, strings.ReplaceAll(goes, "NEXT", strconv.Itoa(i+1)))
	}
	return texts
}

// TestTailCredit: a program that takes more than what is left is not entered, and that is noted.
func TestTailCredit(t *testing.T) {
	m := newMachine(t, 0)
	cut := append([]byte{0x48, 0xBA}, binary.LittleEndian.AppendUint64(nil, m.base()+16)...) // mov $memory+16, DX
	cut = append(cut, 0x48, 0xFF, 0x02)                                                      // inc (DX)
	for credit, want := range map[uint32]uint64{0: 1, 29: 1, 30: 2, 100: 4, 119: 4, 120: 5, 33 * 30: 34, 1 << 31: 34} {
		clear(m.memory)
		c := chain{m: m, programs: [][]bpf.Insn{assemble(t, strings.ReplaceAll(goes, "NEXT", "0"))}, cost: 30, credit: credit, cut: cut}
		got, err := c.compiled(t)
		noted := binary.LittleEndian.Uint64(m.memory[16:])
		if err != nil || got != want || (noted == 1) != (want < 34) {
			t.Errorf("credit %d: %d programs (%v), %d were cut; want %d programs", credit, got, err, noted, want)
		}
	}
}

// TestRandomTailCalls compares chains of random programs.
func TestRandomTailCalls(t *testing.T) {
	n := uint64(1000)
	if os.Getenv("SONDE_LONG") != "" {
		n = 50_000
	}
	m := newMachine(t, 0)
	for seed := range n {
		r := rand.New(rand.NewPCG(3, seed))
		c := chain{m: m, credit: 1 << 30}
		for i := range 2 + r.IntN(6) {
			// The memory, the random program as a function, and the index in a byte that this has written.
			head := "r9 = r1; call pc+10; r1 = r9; r3 = *(u8 *)(r9 + OFF); r3 &= 7; r4 = *(u64 *)(r9 + 64); r4 += 1; *(u64 *)(r9 + 64) = r4; r2 = 0; call 12; r0 = NUMBER; exit"
			head = strings.NewReplacer("OFF", strconv.Itoa(r.IntN(random.MemorySize)), "NUMBER", strconv.Itoa(i)).Replace(head)
			c.programs = append(c.programs, append(assemble(t, head), random.Program(seed, uint64(i), helpers)...))
		}
		for i := range m.memory {
			m.memory[i] = byte(r.Uint32())
		}
		c.compare(t, "chain "+strconv.Itoa(int(seed)))
	}
}

// TestTailCallInAFunction: only the program itself continues as another one.
func TestTailCallInAFunction(t *testing.T) {
	m := newMachine(t, 0)
	c := chain{m: m, programs: [][]bpf.Insn{assemble(t, "call f; exit; f: r1 = 1; r2 = 0; r3 = 0; call 12; r0 = 0; exit")}}
	_, err := c.interpreted(m.memory)
	if _, other := c.compiled(t); err == nil || other == nil || !strings.Contains(err.Error(), "a tail call in a function") || !strings.Contains(other.Error(), "a tail call in a function") {
		t.Errorf("the interpreter says %v, the compiler %v", err, other)
	}
}
