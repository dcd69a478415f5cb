//go:build linux

package jit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"sonde/bpf"
	"sonde/internal/interp"
	"sonde/internal/native"
)

// The maps of the tests' programs: 0 has sums and counts, 1 histograms, 2 is a variable of all CPUs, 3 counts by
// bucket, 4 and 5 have keys, 6 is elsewhere.
var tables = []Table{{Near: 256, Stride: 16, Entries: 5}, {Near: 1024, Stride: 520, Entries: 3}, {}, {Near: 2600, Stride: 8, Entries: bpf.HistBuckets},
	{Near: hashesAt, Stride: 32, Hash: &Hash{Words: 1, Factor: 0x9e3779b97f4a7c15, Shift: 60, Full: 4, Value: 16, Places: 4}},
	{Near: hashesAt + 8, Stride: 32, Hash: &Hash{Words: 2, Factor: 0x9e3779b97f4a7c15, Shift: 60, Full: 4, Value: 24, Places: 2}}}

// Where at GS is what counts hits, what holds the CPU, and where the hashes are; and where these are in memory.
const (
	countAt, holdsAt, hashesAt = 3600, 3608, 3616

	hashBytes = 1024
)

// place is a place of tests: registers have values, and code is fused with it.
type place struct {
	*machine
	before, after []byte // 16 registers and the flags, as the code is entered and left
	shared        []byte // one of both, the second of which is below 1<<31
	places        [2][]byte
	keyed, found  int // lookups of keys, and how many there were
}

func newPlace(t testing.TB) *place {
	p := &place{machine: newMachine(t, 0)}
	p.before, p.after = p.page[1<<19:][:136], p.page[1<<19+256:][:136]
	p.places = [...][]byte{p.page[1<<19+512:][:8], native.Memory(t, 4096, syscall.MAP_32BIT)[:8]}
	p.shared = p.places[0]
	return p
}

// contextRegs are the registers of the words of a context, as Linux has them.
var contextRegs = []uint8{15, 14, 13, 12, 5, 3, 11, 10, 9, 8, 0, 1, 2, 6, 7}

// site makes R12, R13, R15 and others free, but those that a program loads. If the flags are kept, AX is on the stack.
func (p *place) site(kept bool, scratch []uint8) *Site {
	return &Site{
		Word: func(off int32) (Word, error) {
			switch i := int(off) / 8; {
			case i < len(contextRegs) && contextRegs[i] == 0 && kept:
				return Word{Kind: OnStack, Number: 8}, nil // behind the return address
			case i < len(contextRegs):
				return Word{Reg: contextRegs[i]}, nil
			case i == 16:
				return Word{Kind: IsNumber, Number: 0x1234}, nil
			}
			return Word{}, errors.New("no such word")
		},
		Table: func(i int32) (Table, error) {
			if int(i) >= len(tables) {
				return Table{}, errors.New("the map is not at GS")
			}
			return tables[i], nil
		},
		Resolve: func(_, second bpf.Insn) (uint64, error) { return uint64(native.AddressOf(p.shared)), nil },
		Scratch: scratch,
		Count:   countAt,
		Holds:   holdsAt,
	}
}

// around puts code in front of and behind fused code, so that it finds the registers before, and leaves them after. If the
// program is to be called, 2 is at holdsAt.
func (p *place) around(body *Fused, kept bool) []byte {
	var c code
	at := native.AddressOf(p.page)
	each := func(op byte, area []byte) {
		for r := range 16 {
			if r == int(sp) {
				continue
			}
			c.put(0x48|byte(r>>3)<<2, op, byte(r&7)<<3|5)
			c.imm32(int32(int64(native.AddressOf(area[8*r:])) - int64(at) - int64(len(c.b)+4)))
		}
	}
	flags := func(op, r byte, area []byte) { // push or pop, RIP-relative
		c.put(op, r<<3|5)
		c.imm32(int32(int64(native.AddressOf(area[128:])) - int64(at) - int64(len(c.b)+4)))
	}
	own := p.page[1<<19+768:][:136]
	each(opStore, own)
	flags(0xFF, 6, p.before)
	c.put(0x9D) // popf
	each(opLoad, p.before)
	if kept {
		c.put(0x50, 0x50) // push AX twice: where a return address would be, and AX
		c.put(0x48, 0xC7, 0x04, 0x24, 0x99, 0, 0, 0)
	}
	begins := len(c.b)
	c.put(body.Code...)
	c.put(0xEB, 13, prefixGS, 0x48, 0xC7, 0x04, 0x25)
	c.imm32(holdsAt)
	c.imm32(2)
	for _, at := range body.Bails {
		binary.LittleEndian.PutUint32(c.b[begins+at:], uint32(len(body.Code)+2-at-4))
	}
	if kept {
		c.put(0x58, 0x58)
	}
	each(opStore, p.after)
	c.put(0x9C)
	flags(0x8F, 0, p.after)
	each(opLoad, own)
	c.put(0xC3)
	return c.b
}

// interpretedAt runs a program on a copy of the memory at GS, and of the hashes, and returns them. A key that is not found
// changes nothing else.
func (p *place) interpretedAt(insns []bpf.Insn, gs []byte) (memory, hashes []byte, err error) {
	const base, context, hashBase = 0x10_0000, 0x20_0000, 0x30_0000
	memory, hashes = bytes.Clone(gs), bytes.Clone(p.memory)
	words, absent := make([]byte, 168), false
	for i, r := range contextRegs {
		copy(words[8*i:], p.before[8*r:][:8])
	}
	binary.LittleEndian.PutUint64(words[128:], 0x1234)
	m, err := interp.New(insns)
	if err != nil {
		return nil, nil, err
	}
	m.Regions = []interp.Region{{Name: "GS", Base: base, Bytes: memory, Writable: true}, {Name: "context", Base: context, Bytes: words},
		{Name: "shared", Base: uint64(native.AddressOf(p.shared)), Bytes: p.shared},
		{Name: "hashes", Base: hashBase, Bytes: hashes, Writable: true}}
	m.Resolve = func(first, second bpf.Insn) (uint64, error) {
		if first.Src() == bpf.MapIdx {
			return uint64(first.Imm), nil
		}
		return uint64(native.AddressOf(p.shared)), nil
	}
	element := func(m *interp.Machine, a [5]uint64) (uint64, error) {
		if h := tables[a[0]].Hash; h != nil {
			key, err := m.Read(a[1], 8*h.Words)
			at, ok := p.lookup(int(a[0]), key)
			if p.keyed++; ok {
				p.found++
			}
			if absent = absent || !ok; absent {
				return 0, err
			}
			return hashBase + uint64(at), err
		}
		bytes, err := m.Read(a[1], 4)
		if err != nil {
			return 0, err
		}
		if key, t := binary.LittleEndian.Uint32(bytes), tables[a[0]]; key < t.Entries {
			return base + uint64(t.Near) + uint64(key*t.Stride), nil
		}
		return 0, nil
	}
	m.Helpers = map[int32]interp.Helper{
		lookupElement:  element,
		cpuNumber:      func(*interp.Machine, [5]uint64) (uint64, error) { return uint64(binary.LittleEndian.Uint32(gs)), nil },
		bpf.HelperLog2: func(_ *interp.Machine, a [5]uint64) (uint64, error) { return uint64(bpf.Bucket(int64(a[0]))), nil },
		bpf.HelperHistAdd: func(m *interp.Machine, a [5]uint64) (uint64, error) {
			e, err := element(m, a)
			if at := e - base + 8*uint64(bpf.Bucket(int64(a[2]))); e != 0 {
				binary.LittleEndian.PutUint64(memory[at:], binary.LittleEndian.Uint64(memory[at:])+1)
			}
			return 0, err
		},
	}
	if _, err = m.Run(context); absent {
		memory, hashes = bytes.Clone(gs), p.memory
		memory[holdsAt] = 2
	} else {
		memory[countAt]++
	}
	return memory, hashes, err
}

// same runs a program both ways, and compares all that it may and may not change.
func (p *place) same(t testing.TB, text string, kept bool, scratch []uint8) (used int) {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	clear(p.native.CPU()[countAt:hashesAt])
	want, hashes, err := p.interpretedAt(insns, p.native.CPU())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := Fuse(program(insns), p.site(kept, scratch))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	copy(p.page, p.around(f, kept))
	if _, err := p.native.Call(native.AddressOf(p.page), testLink, 0, 64); err != nil {
		t.Fatal(err)
	}
	if got := p.native.CPU(); !bytes.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("at GS %d is %#x, want %#x\n%s% x", i, got[i], want[i], text, f.Code)
			}
		}
	}
	if !bytes.Equal(p.memory, hashes) {
		t.Fatalf("what has keys is % x,\nwant % x\n%s% x", p.memory, hashes, text, f.Code)
	}
	for r := range 16 {
		free := r == int(sp)
		for _, s := range scratch[:f.Used] {
			free = free || int(s) == r
		}
		if !free && !bytes.Equal(p.before[8*r:][:8], p.after[8*r:][:8]) {
			t.Fatalf("register %d has changed\n%s% x", r, text, f.Code)
		}
	}
	return f.Used
}

const lookup0 = "*(u32 *)(r10 - 4) = 0\nr2 = r10\nr2 += -4\nr1 = map[idx:0]\ncall 1\nif r0 == 0 goto out\n"

// TestFusedSize: what is known takes no code.
func TestFusedSize(t *testing.T) {
	p := newPlace(t)
	p.shared = p.places[1]
	for text, n := range map[string]int{
		"r1 = map[idx:2][0]+0\nr1 = *(u64 *)(r1 + 0)\nif r1 == 0 goto out\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit": 3,
		"r0 = 0\nexit": 0,
		lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit":                                                                                                                     1,
		"r6 = *(u64 *)(r1 + 40)\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += r6\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit":                                                                                       1,
		"r6 = *(u64 *)(r1 + 40)\nif r6 != 7 goto out\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit":                                                                   3,
		"r3 = *(u64 *)(r1 + 40)\n*(u32 *)(r10 - 4) = 0\nr2 = r10\nr2 += -4\nr1 = map[idx:1]\ncall 65542\nr0 = 0\nexit":                                                                                           6,
		"r1 = *(u64 *)(r1 + 40)\ncall 65541\n*(u32 *)(r10 - 4) = r0\nr2 = r10\nr2 += -4\nr1 = map[idx:3]\ncall 1\nif r0 == 0 goto out\nr1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit": 7,
	} {
		insns, err := bpf.Assemble(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Fuse(program(insns), p.site(false, []uint8{12, 13, 15}))
		if err != nil {
			t.Fatal(err)
		}
		if got := instructions(t, f.Code) - 1; got != n { // one counts the hit
			t.Errorf("%d instructions, want %d:\n%s% x", got, n, text, f.Code)
		}
	}
}

// TestFusedBuckets: all edges of the buckets.
func TestFusedBuckets(t *testing.T) {
	p := newPlace(t)
	for k := range 64 {
		for _, n := range []uint64{1<<k - 1, 1 << k, 1<<k + 1, -(1 << k), 1<<63 - 1, 1 << 63} {
			binary.LittleEndian.PutUint64(p.before[8*3:], n)
			p.same(t, "r3 = *(u64 *)(r1 + 40)\n*(u32 *)(r10 - 4) = 2\nr2 = r10\nr2 += -4\nr1 = map[idx:1]\ncall 65542\nr0 = 0\nexit", false, []uint8{12, 13, 15})
		}
	}
}

// TestNotFused: what is refused, and why.
func TestNotFused(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct{ text, why string }{
		{"r0 = 0\ntop: r0 += 1\nif r0 < 9 goto top\nexit", "loop"},
		{"r0 = 0\ncall 5\nexit", "a helper that is a function"},
		{"r1 = *(u64 *)(r1 + 144)\n*(u64 *)(r10 - 8) = r1\nr0 = 0\nexit", "no such word"},
		{lookup0 + "r1 = 1\nr1 = atomic_fetch_add((u64 *)(r0 + 0), r1)\nout: r0 = 0\nexit", "otherwise than by adding"},
		{lookup0 + "*(u64 *)(r0 + 0) = r10\nout: r0 = 0\nexit", "not a number"},
		{lookup0 + "r1 = *(u64 *)(r0 + 0)\nr2 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nr2 += 1\n*(u64 *)(r0 + 0) = r2\nout: r0 = 0\nexit", "not known"},
		{strings.Replace(lookup0, "idx:0", "idx:6", 1) + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "not at GS"},
		{strings.Replace(lookup0, "(r10 - 4) = 0", "(r10 - 12) = 0", 1) + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "key is not known"},
		{"r6 = *(u64 *)(r1 + 40)\nr7 = *(u64 *)(r1 + 48)\nr6 <<= r7\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += r6\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "by how much"},
		{"r6 = *(u64 *)(r1 + 40)\nr6 /= 10\nr6 += 1\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += r6\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "more than 2 registers"},
		{"call f\nexit\nf: r0 = 0\nexit", "functions"},
		{add(0) + byKey(4), "after it has changed something"},
		{strings.Replace(byKey(5), "(r10 - 16) = r6", "(r10 - 32) = r6", 1), "key is not known"},
	} {
		insns, err := bpf.Assemble(c.text)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.text)
		}
		if _, err := Fuse(program(insns), p.site(false, []uint8{12, 13})); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v; expected %q\n%s", err, c.why, c.text)
		}
	}
}

// instructions counts those of code.
func instructions(t *testing.T, code []byte) (n int) {
	t.Helper()
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		if err != nil {
			t.Fatal(err)
		}
		n, code = n+1, code[in.Len:]
	}
	return n
}

// TestFusedByHand: what random programs do seldom.
func TestFusedByHand(t *testing.T) {
	p, r := newPlace(t), rand.New(rand.NewPCG(1, 1))
	for _, text := range []string{
		"*(u32 *)(r10 - 4) = 1\nr3 = 1000\nr2 = r10\nr2 += -4\nr1 = map[idx:1]\ncall 65542\nr0 = 0\nexit",
		lookup0 + "r1 = *(u64 *)(r0 + 8)\nr1 -= 3\n*(u64 *)(r0 + 8) = r1\nout: r0 = 0\nexit",
		lookup0 + "r0 += 16\nr0 -= 8\nr1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit",
		"r6 = *(u64 *)(r1 + 40)\n" + lookup0 + "lock *(u64 *)(r0 + 8) += r6\nout: r0 = 0\nexit",
		lookup0 + "r1 = *(u64 *)(r0 + 8)\nr1 += 5\n*(u64 *)(r0 + 8) = r1\nr1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit",
	} {
		p.random(r)
		p.same(t, text, false, []uint8{12, 13, 15})
	}
}
