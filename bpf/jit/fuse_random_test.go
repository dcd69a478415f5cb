//go:build linux

package jit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"sonde/bpf"
)

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
	p.fill(r)
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
	changes := func() { // the element at R0
		by := one("1", "-3", "100000", "r8")
		switch r.IntN(8) {
		case 0:
			say("r1 = *(u64 *)(r0 + 0)\nif r8 %s r1 goto l%d\n*(u64 *)(r0 + 0) = r8", one("s<=", "s>=", "<=", ">=", "=="), labels)
		case 1:
			say("r1 = *(u64 *)(r0 + 0)\nr1 += %s\nr1 %s= r8\n*(u64 *)(r0 + 0) = r1", by, one("^", "-", "*"))
		case 2:
			say("*(u64 *)(r0 + 0) = %s", one("r8", "-1", "7"))
		case 3:
			say("r1 = *(u64 *)(r0 + 0)\nr1 += %s\nlock *(u64 *)(r0 + 0) += r1", by)
		case 4:
			say("r1 = *(u64 *)(r0 + 0)\nr1 += r8\nr1 += 9\n*(u64 *)(r0 + 0) = r1\nr1 = *(u64 *)(r0 + 0)\nif r1 s< 0 goto l%d\n*(u64 *)(r0 + 0) = r1", labels)
		default:
			say("r1 = *(u64 *)(r0 + 0)\nr1 += %s\n*(u64 *)(r0 + 0) = r1", by)
		}
		labels++
	}
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
	if words := r.IntN(4); words == 1 || words == 2 {
		for i := range words {
			switch r.IntN(4) {
			case 0:
				say("r0 = %d ll\n*(u64 *)(r10 - %d) = r0", int64(binary.LittleEndian.Uint64(someKey(r, 1))), 32-8*i)
			case 1:
				say("*(u64 *)(r10 - %d) = r7", 32-8*i)
			default:
				say("r0 = r8\nr0 &= 7\nr0 -= 1\n*(u64 *)(r10 - %d) = r0", 32-8*i)
			}
		}
		say("r2 = r10\nr2 += -32\nr1 = map[idx:%d]\ncall 1\nif r0 == 0 goto l%d", 3+words, labels)
		changes()
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
		say("*(u32 *)(r10 - 4) = %d\nr2 = r10\nr2 += -4\nr1 = map[idx:0]\ncall 1\nif r0 == 0 goto l%d", r.IntN(6), labels)
		changes()
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
	t.Logf("%d with keys, of which %d were found", p.keyed, p.found)
	if p.found < n/20 || p.keyed-p.found < n/20 {
		t.Errorf("of %d programs with keys, %d found them", p.keyed, p.found)
	}
}
