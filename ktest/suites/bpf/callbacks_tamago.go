//go:build tamago

package bpf

import (
	"strings"

	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/callbacks", callbacks)
	suites.Add("bpf/callback_over_keys", overKeys)
	suites.Add("bpf/texts", texts)
}

// callbacks: a loop whose body calls helpers and another function, reads the context of the caller through
// its own frame, and ends early.
func callbacks(t *suites.T) {
	p := load(t, `
		map seen array 4 24 1
		r6 = *(u64 *)(r1 + 80)
		*(u64 *)(r10 - 8) = r6
		*(u64 *)(r10 - 16) = 0
		r1 = 20
		r2 = subprog[body]
		r3 = r10
		r3 += -16
		r4 = 0
		call 181
		r7 = map[idx:0][0]+0
		*(u64 *)(r7 + 0) = r0
		r1 = *(u64 *)(r10 - 16)
		*(u64 *)(r7 + 8) = r1
		*(u64 *)(r7 + 16) = r6
		r0 = 0
		exit
	body:	r6 = r1
		r7 = r2
		call 5
		r1 = r6
		call double
		r1 = *(u64 *)(r7 + 0)
		r1 += r0
		*(u64 *)(r7 + 0) = r1
		r0 = 0
		if r6 < 9 goto on
		r0 = 1
	on:	exit
	double:	r0 = r1
		r0 += r1
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	defer l.Close()
	for n := range uint64(50) {
		square(n)
		if got := p.seen(t, 3); got[0] != 10 || got[1] != 90 || got[2] != n {
			t.Fatalf("%d calls with the sum %d, and %d instead of %d: want 10 and 90", got[0], got[1], got[2], n)
		}
	}
}

// overKeys: a program adds up what its maps have, and empties one.
func overKeys(t *suites.T) {
	for _, kind := range []string{"hash 4 8 8", "array 4 8 8", "percpu_array 4 8 8", "percpu_hash 4 8 8"} {
		p := load(t, `
			map sums array 4 16 1
			map from `+kind+`
			*(u64 *)(r10 - 8) = 0
			r1 = map[idx:1]
			r2 = subprog[each]
			r3 = r10
			r3 += -8
			r4 = 0
			call 164
			r7 = map[idx:0][0]+0
			*(u64 *)(r7 + 0) = r0
			r1 = *(u64 *)(r10 - 8)
			*(u64 *)(r7 + 8) = r1
			r0 = 0
			exit
		each:	r0 = *(u64 *)(r3 + 0)
			r1 = *(u32 *)(r2 + 0)
			r0 *= r1
			r1 = *(u64 *)(r4 + 0)
			r1 += r0
			*(u64 *)(r4 + 0) = r1
			*(u64 *)(r3 + 0) = 1
			r0 = 0
			exit`)
		for c := range p.maps[1].Tables() {
			for i := range uint32(8) {
				t.Must(p.maps[1].Update(c, key4(i), key8(100), program.Any))
			}
		}
		l := p.attach(t, pkg+"square")
		square(1)
		if got := p.seen(t, 2); got[0] != 8 || got[1] != 2800 {
			t.Errorf("%s: %d keys with the sum %d, want 8 and 2800", kind, got[0], got[1])
		}
		l.Close()
		p.close()
	}
}

// texts: a program says who called what with which argument, and keeps a text of it.
func texts(t *suites.T) {
	p := load(t, `
		map seen array 4 32 1
		r6 = *(u64 *)(r1 + 80)
		r1 = 623666213 # %d,%x
		*(u32 *)(r10 - 8) = r1
		*(u32 *)(r10 - 4) = 120
		r1 = r10
		r1 += -8
		r2 = 8
		r3 = r6
		r4 = r6
		call 6
		*(u64 *)(r10 - 16) = r6
		*(u64 *)(r10 - 24) = r6
		r1 = map[idx:0][0]+0
		r2 = 32
		r3 = r10
		r3 += -8
		r4 = r10
		r4 += -24
		r5 = 16
		call 165
		r0 = 0
		exit`)
	defer p.close()
	for {
		if _, ok := program.Said(); !ok {
			break
		}
	}
	l := p.attach(t, pkg+"square")
	defer l.Close()
	square(77)
	value := make([]byte, 32)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	said, _ := program.Said()
	if text, _, _ := strings.Cut(string(value), "\x00"); text != "77,4d" || !strings.Contains(said, "ktest-4") || !strings.HasSuffix(said, ": bpf_trace_printk: 77,4d") {
		t.Errorf("%q, and said %q", text, said)
	}
}
