package jit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"sonde/bpf"
	"sonde/internal/interp"
	"sonde/internal/native"
)

// The maps of the tests' programs: 0 has sums and counts, 1 histograms, 2 is a variable of all CPUs, 3 counts by
// bucket, 4 is elsewhere.
var tables = []Table{{Near: 256, Stride: 16, Entries: 5}, {Near: 1024, Stride: 520, Entries: 3}, {}, {Near: 2600, Stride: 8, Entries: bpf.HistBuckets}}

// place is a place of tests: registers have values, and code is fused with it.
type place struct {
	*machine
	before, after []byte // 16 registers and the flags, as the code is entered and left
	shared        []byte // one of both, the second of which is below 1<<31
	places        [2][]byte
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
	}
}

// around puts code in front of and behind fused code, so that it finds the registers before, and leaves them after.
func (p *place) around(body []byte, kept bool) []byte {
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
	c.put(body...)
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

// interpretedAt runs a program on a copy of the memory at GS, and returns it.
func (p *place) interpretedAt(insns []bpf.Insn, gs []byte) ([]byte, error) {
	const base, context = 0x10_0000, 0x20_0000
	memory, words := bytes.Clone(gs), make([]byte, 168)
	for i, r := range contextRegs {
		copy(words[8*i:], p.before[8*r:][:8])
	}
	binary.LittleEndian.PutUint64(words[128:], 0x1234)
	m, err := interp.New(insns)
	if err != nil {
		return nil, err
	}
	m.Regions = []interp.Region{{Name: "GS", Base: base, Bytes: memory, Writable: true}, {Name: "context", Base: context, Bytes: words},
		{Name: "shared", Base: uint64(native.AddressOf(p.shared)), Bytes: p.shared}}
	m.Resolve = func(first, second bpf.Insn) (uint64, error) {
		if first.Src() == bpf.MapIdx {
			return uint64(first.Imm), nil
		}
		return uint64(native.AddressOf(p.shared)), nil
	}
	element := func(m *interp.Machine, a [5]uint64) (uint64, error) {
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
	_, err = m.Run(context)
	return memory, err
}

// same runs a program both ways, and compares all that it may and may not change.
func (p *place) same(t testing.TB, text string, kept bool, scratch []uint8) (used int) {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want, err := p.interpretedAt(insns, p.native.CPU())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := Fuse(program(insns), p.site(kept, scratch))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	copy(p.page, p.around(f.Code, kept))
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

// set gives the registers random values, of which some are small, and the flags.
func (p *place) random(r *rand.Rand) {
	for i := range 16 {
		v := r.Uint64() >> (r.IntN(9) * 8 % 64)
		if r.IntN(4) == 0 {
			v = -v
		}
		binary.LittleEndian.PutUint64(p.before[8*i:], v)
	}
	binary.LittleEndian.PutUint64(p.before[128:], 0x202|r.Uint64()&0x8d5)
	p.shared = p.places[r.IntN(2)]
	binary.LittleEndian.PutUint64(p.shared, uint64(r.IntN(3)))
	binary.LittleEndian.PutUint32(p.native.CPU(), uint32(r.IntN(6)))
}

// someProgram makes a program that counts, of what its context has, by ways that branch.
func someProgram(r *rand.Rand, temporaries int) (string, map[uint8]bool) {
	var b strings.Builder
	loaded := map[uint8]bool{}
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	say("r6 = r1")
	load := func(dst string) {
		i := r.IntN(len(contextRegs))
		loaded[contextRegs[i]] = true
		say("%s = *(%s *)(r6 + %d)", dst, one("u64", "u64", "u64", "u32", "u16", "u8"), 8*i)
	}
	operand := func() string { return one("r7", fmt.Sprint(r.IntN(300)-20), fmt.Sprint(1<<r.IntN(31))) }
	load("r7")
	load("r8")
	labels := 0
	for range 1 + r.IntN(5) {
		switch r.IntN(10) {
		case 0:
			load(one("r7", "r8"))
		case 1, 2:
			say("%s %s= %s", one("r8", "w8"), one("+", "-", "*", "&", "|", "^"), strings.Replace(operand(), "r7", "7", 1))
		case 3:
			say("r8 %s= %d", one("<<", ">>", "s>>"), r.IntN(64))
		case 4:
			if temporaries > 3 {
				say("r8 %s= %d", one("/", "%", "s/", "s%"), 1+r.IntN(1000))
			}
		case 5:
			say("*(u64 *)(r10 - 32) = r8\nr7 = *(u64 *)(r10 - 32)")
		case 6:
			say("r1 = r8\ncall %d\nr8 = r0", bpf.HelperLog2)
		case 7:
			say("call 8\nr7 = r0")
		case 8:
			say("if %s %s %s goto l%d", one("r8", "w8"), one("==", "!=", ">", ">=", "<", "<=", "s>", "s>=", "s<", "s<=", "&"), strings.Replace(operand(), "r7", "9", 1), labels)
			labels++
		case 9:
			say("r1 = map[idx:2][0]+0\nr1 = *(u64 *)(r1 + 0)\nif r1 == %s goto l%d\nr7 ^= r1", one("0", "1", "2", "100000"), labels)
			labels++
		}
	}
	for range 1 + r.IntN(3) {
		switch key := r.IntN(7); one("known", "hist", "key", "bucket") {
		case "known":
			say("*(u32 *)(r10 - 4) = %d", key)
		case "hist":
			say("*(u32 *)(r10 - 4) = %d\nr3 = r8\nr2 = r10\nr2 += -4\nr1 = map[idx:1]\ncall %d", key, bpf.HelperHistAdd)
		case "bucket":
			if r.IntN(2) == 0 {
				say("r1 = r8\ncall %d", bpf.HelperLog2)
			} else {
				say("r0 = r8\nr0 &= 127")
			}
			say("*(u64 *)(r10 - 8) = r0\nr2 = r10\nr2 += -8\nr1 = map[idx:3]\ncall 1\nif r0 == 0 goto l%d\nr1 = *(u64 *)(r0 + 0)\nr1 += %s\n*(u64 *)(r0 + 0) = r1", labels, one("1", "r8"))
			labels++
			continue
		case "key":
			say("r1 = r8\nr1 &= 7\n*(u64 *)(r10 - 8) = r1\nr2 = r10\nr2 += -8\nr1 = map[idx:0]\ncall 1\nif r0 == 0 goto l%d\nr1 = *(u64 *)(r0 + 8)\nr1 += %d\n*(u64 *)(r0 + 8) = r1", labels, r.IntN(1000))
			labels++
			continue
		}
		say("*(u32 *)(r10 - 4) = %d\nr2 = r10\nr2 += -4\nr1 = map[idx:0]\ncall 1\nif r0 == 0 goto l%d\nr1 = *(u64 *)(r0 + 0)\nr1 += %s\n*(u64 *)(r0 + 0) = r1", r.IntN(6), labels, one("1", "-3", "100000", "r8"))
		labels++
	}
	for i := range labels {
		say("l%d:", i)
	}
	say("r0 = 0\nexit")
	return b.String(), loaded
}

// TestFusedProgramsDoTheSame compares random programs with the interpreter: memory at GS, and all registers.
func TestFusedProgramsDoTheSame(t *testing.T) {
	n := 3000
	if os.Getenv("SONDE_LONG") != "" {
		n = 300_000
	}
	p, r, most := newPlace(t), rand.New(rand.NewPCG(7, 7)), 0
	for range n {
		p.random(r)
		text, loaded := someProgram(r, 6)
		var scratch []uint8
		for _, s := range []uint8{12, 13, 15, 11, 10, 9, 8, 7, 6, 3, 1} {
			if !loaded[s] {
				scratch = append(scratch, s)
			}
		}
		most = max(most, p.same(t, text, r.IntN(2) == 0, scratch))
	}
	if most < 3 {
		t.Errorf("%d scratch registers at most", most)
	}
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
		if got := instructions(t, f.Code); got != n {
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
		{"r6 = *(u64 *)(r1 + 40)\n" + lookup0 + "*(u64 *)(r0 + 0) = r6\nout: r0 = 0\nexit", "otherwise than by adding"},
		{lookup0 + "r1 = *(u64 *)(r0 + 0)\nif r1 == 7 goto out\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "not a number"},
		{lookup0 + "r1 = *(u64 *)(r0 + 0)\nr2 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nr2 += 1\n*(u64 *)(r0 + 0) = r2\nout: r0 = 0\nexit", "not known"},
		{strings.Replace(lookup0, "idx:0", "idx:4", 1) + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "not at GS"},
		{strings.Replace(lookup0, "(r10 - 4) = 0", "(r10 - 12) = 0", 1) + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "key is not known"},
		{"r6 = *(u64 *)(r1 + 40)\nr7 = *(u64 *)(r1 + 48)\nr6 <<= r7\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += r6\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "by how much"},
		{"r6 = *(u64 *)(r1 + 40)\nr6 /= 10\nr6 += 1\n" + lookup0 + "r1 = *(u64 *)(r0 + 0)\nr1 += r6\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit", "more than 2 registers"},
		{"call f\nexit\nf: r0 = 0\nexit", "functions"},
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
