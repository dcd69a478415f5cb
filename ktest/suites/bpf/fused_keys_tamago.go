//go:build tamago

package bpf

import (
	"encoding/binary"
	"math"
	"strings"

	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/fused_finds_keys", fusedKeys)
	suites.Add("bpf/fused_finds_keys_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedKeys) })
	suites.Add("bpf/fused_finds_keys_that_come_and_go", fusedComeAndGo)
	suites.Add("bpf/fused_keeps_extremes", fusedExtremes)
	suites.Add("bpf/fused_keeps_extremes_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedExtremes) })
	for _, how := range []string{"alone", "in_interrupts"} {
		text := strings.Replace(count, "r1 += 1", "r1 ^= 1\nr1 ^= 1\nr1 += 1", 1) // loads, computes and stores
		suites.Add("bpf/fused_storm_of_stores_"+how, func(t *suites.T) { fusedStorm(t, how, text) })
		suites.Add("bpf/fused_storm_of_stores_by_breakpoints_"+how, func(t *suites.T) {
			byBreakpoints(t, func(t *suites.T) { fusedStorm(t, how, text) })
		})
	}
	for _, how := range []string{"alone", "second_probe", "in_interrupts", "keys_go", "full"} {
		text := byKey
		if how == "full" {
			text = strings.Replace(byKey, "8 8 64", "8 8 8", 1)
		}
		suites.Add("bpf/fused_storm_of_keys_"+how, func(t *suites.T) { fusedStorm(t, how, text) })
		suites.Add("bpf/fused_storm_of_keys_by_breakpoints_"+how, func(t *suites.T) {
			byBreakpoints(t, func(t *suites.T) { fusedStorm(t, how, text) })
		})
	}
}

// byArgument counts and adds up by the first argument, byBoth by both of them.
const (
	byArgument = `
	map hits percpu_hash 8 16 64
	r6 = *(u64 *)(r1 + 80)
	*(u64 *)(r10 - 8) = r6
	r2 = r10
	r2 += -8` + addUp
	byBoth = `
	map hits percpu_hash 16 16 64
	r6 = *(u64 *)(r1 + 80)
	r7 = *(u64 *)(r1 + 40)
	*(u64 *)(r10 - 16) = r6
	*(u64 *)(r10 - 8) = r7
	r2 = r10
	r2 += -16` + addUp
	addUp = `
	r8 = r2
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto new
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
	r1 = *(u64 *)(r0 + 8)
	r1 += r6
	*(u64 *)(r0 + 8) = r1
	goto out
new:	*(u64 *)(r10 - 32) = 1
	*(u64 *)(r10 - 24) = r6
	r3 = r10
	r3 += -32
	r2 = r8
	r1 = map[idx:0]
	r4 = 0
	call 2
out:	r0 = 0
	exit`
	// byKey counts by the lowest bits of the first argument.
	byKey = `
	map hits percpu_hash 8 8 64
	r6 = *(u64 *)(r1 + 80)
	r6 &= 15
	*(u64 *)(r10 - 8) = r6
	r2 = r10
	r2 += -8
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto new
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
	goto out
new:	*(u64 *)(r10 - 16) = 1
	r3 = r10
	r3 += -16
	r2 = r10
	r2 += -8
	r1 = map[idx:0]
	r4 = 0
	call 2
out:	r0 = 0
	exit`
)

// total is what the program's map has counted, of all keys that it may have.
func (p *loaded) total(t *suites.T) (sum uint64) {
	if p.maps[0].Spec.KeySize == 4 {
		return word(t, p.maps[0], key4(0))
	}
	for k := range uint64(16) {
		sum += word(t, p.maps[0], key8(k))
	}
	return sum
}

// fusedKeys: a new key is added on the general way, and found where the program is fused. Each key has its own sums, even
// if there are so many that they are at each other's places.
func fusedKeys(t *suites.T) {
	numbers := []int{0, 1, 2, 3, -1, -2, math.MinInt, math.MaxInt, 1 << 32, 1<<32 + 1}
	for k := 4; len(numbers) < 64; k += 3 {
		numbers = append(numbers, (k<<(k%20)|1)<<4)
	}
	for _, text := range []string{byArgument, byBoth} {
		p := load(t, text)
		l := p.fusedAt(t, pkg+"entered")
		for range 3 {
			for _, n := range numbers {
				entered(n, 2)
			}
		}
		for _, n := range numbers {
			key := key8(uint64(n))
			if text == byBoth {
				key = append(key, key8(2)...)
			}
			value, count, sum := make([]byte, 16), uint64(0), uint64(0)
			for i := range p.maps[0].Tables() {
				if p.maps[0].Lookup(i, key, value) == nil {
					count += binary.LittleEndian.Uint64(value)
					sum += binary.LittleEndian.Uint64(value[8:])
				}
			}
			if count != 3 || sum != 3*uint64(n) {
				t.Errorf("%d was counted %d times, the sum is %d", n, count, sum)
			}
		}
		// Some keys may be too far from their homes.
		if n := fusedHits(t, l); n < uint64(2*len(numbers))*3/4 || n > uint64(2*len(numbers)) {
			t.Errorf("%d hits of %d keys ran the program where they were", n, len(numbers))
		}
		if led := l.Ledger(); led.Entered != uint64(3*len(numbers)) || led.Handled != led.Entered || led.Unexplained() != 0 {
			t.Errorf("%d hits: %+v", 3*len(numbers), led)
		}
		way(t, l, "fused")
		l.Close()
		p.close()
	}
}

// fusedExtremes: the least of what was given with each key.
func fusedExtremes(t *suites.T) {
	p := load(t, strings.NewReplacer("percpu_hash 16 16", "percpu_hash 8 8", "*(u64 *)(r10 - 16) = r6", "", "r2 += -16", "r2 += -8",
		addUp, keepLeast).Replace(byBoth))
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	for key := range 5 {
		for i := range 40 {
			entered((i*7%40-20)<<key, key)
		}
		least, value := 0, make([]byte, 8)
		for cpu := range p.maps[0].Tables() {
			if p.maps[0].Lookup(cpu, key8(uint64(key)), value) == nil {
				least = min(least, int(binary.LittleEndian.Uint64(value)))
			}
		}
		if least != -20<<key {
			t.Errorf("the least of %d is %d", key, least)
		}
	}
	if n, led := fusedHits(t, l), l.Ledger(); n < 150 || led.Entered != 200 || led.Handled != 200 || led.Unexplained() != 0 {
		t.Errorf("%d hits ran the program where they were: %+v", n, led)
	}
}

// keepLeast keeps the least.
const keepLeast = `
	r8 = r2
	r1 = map[idx:0]
	call 1
	if r0 == 0 goto new
	r1 = *(u64 *)(r0 + 0)
	if r6 s>= r1 goto out
	*(u64 *)(r0 + 0) = r6
	goto out
new:	*(u64 *)(r10 - 32) = r6
	r3 = r10
	r3 += -32
	r2 = r8
	r1 = map[idx:0]
	r4 = 0
	call 2
out:	r0 = 0
	exit`

// fusedHits is how many hits of a link's first place ran the program there, and did not call it.
func fusedHits(t *suites.T, l *program.Link) uint64 {
	d, err := kprobes.Describe("", uintptr(l.Places()[0].Addr))
	t.Must(err)
	return d.Probes[0].Fused
}

// fusedComeAndGo: what was removed is added again, with nothing of what it had.
func fusedComeAndGo(t *suites.T) {
	p := load(t, byKey)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	for i := range suites.Rounds(50, 500) {
		for n := range 16 {
			for range 1 + n%3 {
				entered(n, 2)
			}
		}
		for n := range uint64(16) {
			if got := word(t, p.maps[0], key8(n)); got != 1+n%3 {
				t.Fatalf("round %d: %d was counted %d times", i, n, got)
			}
			for cpu := range p.maps[0].Tables() {
				p.maps[0].Delete(cpu, key8(n))
			}
		}
	}
}
