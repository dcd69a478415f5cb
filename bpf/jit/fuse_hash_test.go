//go:build linux

package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"sonde/bpf"
	"sonde/internal/native"
)

// lookup returns where in the hashes' memory the element of a key is.
func (p *place) lookup(table int, key []byte) (at int, ok bool) {
	t := &tables[table]
	home := p.home(table, key)
	for i := range t.Hash.Places {
		at := home + i*int(t.Stride)
		if entry := p.memory[at:][:t.Stride]; entry[0]&t.Hash.Full == 0 {
			return 0, false
		} else if bytes.Equal(entry[8:][:len(key)], key) {
			return at + int(t.Hash.Value), true
		}
	}
	return 0, false
}

// home returns where in the hashes' memory the home of a key is.
func (p *place) home(table int, key []byte) int {
	t, h := &tables[table], uint64(0)
	for i := 0; i < len(key); i += 8 {
		h = (h ^ h>>32 ^ binary.LittleEndian.Uint64(key[i:])) * t.Hash.Factor
	}
	return (table-4)*hashBytes + int(h>>t.Hash.Shift)*int(t.Stride)
}

// fill puts keys into the hashes, some of which are gone, or about to be there.
func (p *place) fill(r *rand.Rand) {
	clear(p.memory)
	for table := 4; table < 6; table++ {
		t := &tables[table]
		binary.LittleEndian.PutUint64(p.native.CPU()[t.Near:], uint64(native.AddressOf(p.memory[(table-4)*hashBytes:])))
		for range 2 + r.IntN(16) {
			key := someKey(r, t.Hash.Words)
			for i, home := 0, p.home(table, key); i < 4; i++ {
				entry := p.memory[home+i*int(t.Stride):][:t.Stride]
				if entry[0]&7 != 0 && r.IntN(40) != 0 {
					continue
				}
				copy(entry, []byte{t.Hash.Full | byte(r.IntN(32))<<3, byte(r.IntN(256))})
				if r.IntN(8) == 0 {
					entry[0] = 1 + byte(r.IntN(2))
				}
				copy(entry[8:], key)
				break
			}
		}
	}
}

// someKey returns a key of small numbers, and seldom others.
func someKey(r *rand.Rand, words int) (key []byte) {
	for range words {
		w := uint64(r.IntN(8)) - 1
		if r.IntN(8) == 0 {
			w = 1 << 40
		}
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return key
}

// add adds to the first element of a table, byKey to that of the keys in R6 and R7.
func add(table int) string {
	return strings.Replace(lookup0, "idx:0", fmt.Sprint("idx:", table), 1) + "r1 = *(u64 *)(r0 + 0)\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout:"
}

func byKey(table int) string {
	return fmt.Sprintf("r6 = 0\nr7 = 0\n*(u64 *)(r10 - 16) = r6\n*(u64 *)(r10 - 8) = r7\nr2 = r10\nr2 += -16\nr1 = map[idx:%d]\ncall 1\nif r0 == 0 goto none\n"+
		"r1 = *(u64 *)(r0 + 0)\nr1 += -1\n*(u64 *)(r0 + 0) = r1\nnone: r0 = 0\nexit", table)
}

// TestFusedHolds: the CPU is held while the element is changed. That is where what holds the CPU is: 1 less 1 leaves the
// high half as it is, and 0 does not.
func TestFusedHolds(t *testing.T) {
	p := newPlace(t)
	cpu := p.native.CPU()
	cpu[holdsAt-16] = tables[4].Hash.Full // the place; 0 is the key
	binary.LittleEndian.PutUint64(cpu[hashesAt:], uint64(native.AddressOf(cpu[holdsAt-16:])))
	p.call(t, byKey(4))
	if got, n := binary.LittleEndian.Uint64(cpu[holdsAt:]), cpu[countAt]; got != 0 || n != 1 {
		t.Errorf("%#x: the CPU is not held; counted %d", got, n)
	}
}

// TestFusedLooksTwice: an element whose place changes meanwhile is not found.
func TestFusedLooksTwice(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so that also one processor leaves a look anywhere
	p := newPlace(t)
	cpu := p.native.CPU()
	word := native.Word(p.memory)
	word.Store(uint64(tables[4].Hash.Full))
	binary.LittleEndian.PutUint64(cpu[hashesAt:], uint64(native.AddressOf(p.memory)))
	var over atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for !over.Load() {
			word.Add(8) // full, as before
		}
	}()
	run := p.call(t, byKey(4))
	for changes := 0; cpu[holdsAt] == 0; {
		before := word.Load()
		if run(); word.Load() != before {
			changes++
		}
		if changes == 1_000_000 { // two looks are so close that few changes come between
			t.Error("each look finds the element, however it changes")
			break
		}
	}
	over.Store(true)
	<-done
}

// call runs a program, which has no registers, and returns what runs it again.
func (p *place) call(t *testing.T, text string) (again func()) {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fuse(program(insns), p.site(false, []uint8{12, 13, 15}))
	if err != nil {
		t.Fatal(err)
	}
	copy(p.page, p.around(f, false))
	again = func() {
		if _, err := p.native.Call(native.AddressOf(p.page), testLink, 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	again()
	return again
}

// TestFusedHoldsWhatItLoads: the CPU is held from when an element is loaded until what is computed is stored there. The
// element is where what holds the CPU is, and its high half becomes what the low one was.
func TestFusedHoldsWhatItLoads(t *testing.T) {
	near := tables[0].Near
	tables[0].Near = holdsAt
	defer func() { tables[0].Near = near }()
	p := newPlace(t)
	p.call(t, lookup0+"r1 = *(u64 *)(r0 + 0)\nr1 <<= 32\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit")
	if got := binary.LittleEndian.Uint64(p.native.CPU()[holdsAt:]); got != 1<<32 {
		t.Errorf("%#x: the CPU is not held", got)
	}
}

// TestFusedLoadsAgain: what was loaded before a store is not what is there after it.
func TestFusedLoadsAgain(t *testing.T) {
	p := newPlace(t)
	insns, err := bpf.Assemble(lookup0 + "r1 = *(u64 *)(r0 + 0)\n*(u64 *)(r0 + 0) = 7\nr1 += 1\n*(u64 *)(r0 + 0) = r1\nout: r0 = 0\nexit")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := Fuse(program(insns), p.site(false, []uint8{12, 13})); err == nil {
		t.Errorf("% x", f.Code)
	}
}
