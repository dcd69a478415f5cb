//go:build tamago

package bpf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"sonde/bpf"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/tail_calls", tailCalls)
	suites.Add("bpf/tail_calls_end", tailCallsEnd)
	suites.Add("bpf/tail_calls_change", tailCallsChange)
}

// A chain is programs that continue as each other, with an array of them, and a map in which each counts its hits
// at its own index.
type chain struct {
	counts, next *program.Map
	programs     []*program.Prog
}

func newChain(t *suites.T) *chain {
	counts, err := program.NewMap(bpf.MapSpec{Name: "counts", Type: bpf.Array, KeySize: 4, ValueSize: 64 * 8, MaxEntries: 1})
	t.Must(err)
	next, err := program.NewMap(bpf.MapSpec{Name: "next", Type: bpf.ProgArray, KeySize: 4, ValueSize: 4, MaxEntries: 64})
	t.Must(err)
	return &chain{counts: counts, next: next}
}

// bump is what counts at the word AT of the first map.
const bump = `
	r7 = map[idx:0][0]+AT
	r8 = 1
	lock *(u64 *)(r7 + 0) += r8
`

// nowhere is where programs count that do not continue as another one.
const nowhere = 63

// load loads a program that counts at one index, does more, and continues as the program at another, which may be none.
func (c *chain) load(t *suites.T, count, next int, more string) *program.Prog {
	return c.loadText(t, "r6 = r1"+bumpAt(count)+more+fmt.Sprintf("r1 = r6\nr2 = map[idx:1]\nr3 = %d\ncall 12", next)+bumpAt(nowhere)+"r0 = 0\nexit")
}

func bumpAt(at int) string { return strings.ReplaceAll(bump, "AT", fmt.Sprint(8*at)) }

func (c *chain) loadText(t *suites.T, text string) *program.Prog {
	p, err := program.Load(&bpf.Program{Name: "link", Type: bpf.Kprobe, Insns: assembled(t, text), Maps: []*bpf.MapSpec{&c.counts.Spec, &c.next.Spec}}, []*program.Map{c.counts, c.next}, nil)
	t.Must(err)
	c.programs = append(c.programs, p)
	return p
}

// put puts a program at an index.
func (c *chain) put(t *suites.T, at int, p *program.Prog) { t.Must(c.next.PutProg(uint32(at), p)) }

// counted returns what was counted at each index.
func (c *chain) counted(t *suites.T) (n []uint64) {
	value := make([]byte, 64*8)
	t.Must(c.counts.Lookup(0, key4(0), value))
	for at := 0; at < len(value); at += 8 {
		n = append(n, binary.LittleEndian.Uint64(value[at:]))
	}
	return n
}

func (c *chain) close() {
	for _, p := range c.programs {
		p.Close()
	}
	c.next.Close()
	c.counts.Close()
}

// tailCalls: 33 programs follow the first one, and not 34. Behind the last, which has no maps and so looks at
// nothing of the CPU's, programs run as before.
func tailCalls(t *suites.T) {
	c := newChain(t)
	for i := range 33 {
		c.put(t, i, c.load(t, i, i+1, ""))
	}
	plain, err := program.Load(&bpf.Program{Name: "plain", Type: bpf.Kprobe, Insns: assembled(t, "r0 = 0\nexit")}, nil, nil)
	t.Must(err)
	c.programs = append(c.programs, plain)
	c.put(t, 33, plain)
	const calls = 100
	run := func() []uint64 {
		before := c.counted(t)
		l, err := c.programs[0].AttachTo(nil, pkg+"square")
		t.Must(err)
		for n := range uint64(calls) {
			if square(n) != n*n {
				t.Errorf("another result")
			}
		}
		l.Close()
		if got := l.Ledger(); got.Handled != calls || c.programs[0].Recursion() != 0 {
			t.Errorf("%+v", got)
		}
		after := c.counted(t)
		for i := range after {
			after[i] -= before[i]
		}
		return after
	}
	want := slices.Concat(slices.Repeat([]uint64{calls}, 33), make([]uint64, 31))
	if got := run(); !slices.Equal(got, want) {
		t.Errorf("33 behind the first: %d", got)
	}
	c.put(t, 33, c.load(t, 33, 34, ""))
	c.put(t, 34, c.load(t, 34, 35, ""))
	want[33], want[nowhere] = calls, calls
	if got := run(); !slices.Equal(got, want) {
		t.Errorf("34 behind the first: %d", got)
	}
	if n := c.next.Lost(); n != 0 {
		t.Errorf("%d were cut", n)
	}
	c.close()
}

func assembled(t *suites.T, text string) []bpf.Insn {
	insns, err := bpf.Assemble(text)
	t.Must(err)
	return insns
}

// tailCallsEnd: a program that continues as itself ends after 34 runs, or when it has taken as much as one hit may;
// that is noted.
func tailCallsEnd(t *suites.T) {
	c := newChain(t)
	light, heavy := c.load(t, 0, 0, ""), c.load(t, 1, 1, "*(u32 *)(r10 - 4) = 0\n"+strings.Repeat("r1 = map[idx:0]\nr2 = r10\nr2 += -4\ncall 1\n", 8))
	c.put(t, 0, light)
	c.put(t, 1, heavy)
	runs := uint64(65536 / heavy.Checked.Worst)
	if light.Checked.Worst > 65536/34 || runs < 3 || runs > 30 {
		t.Errorf("light takes %d, heavy %d", light.Checked.Worst, heavy.Checked.Worst)
	}
	const calls = 50
	for _, p := range []*program.Prog{light, heavy} {
		l, err := p.AttachTo(nil, pkg+"square")
		t.Must(err)
		for n := range uint64(calls) {
			square(n)
		}
		l.Close()
	}
	if got := c.counted(t); got[0] != 34*calls || got[1] != runs*calls || got[nowhere] != 2*calls || c.next.Lost() != calls {
		t.Errorf("a light program ran %d times, a heavy one %d, want %d and %d; %d ended, %d were cut", got[0], got[1], 34*calls, runs*calls, got[nowhere], c.next.Lost())
	}
	c.close()
}

// tailCallsChange: what a program continues as changes while all CPUs run it, and programs go that others may be in.
// Each hit is counted once.
func tailCallsChange(t *suites.T) {
	c := newChain(t)
	first := c.load(t, 2, 0, "")
	l, err := first.AttachTo(nil, pkg+"square")
	t.Must(err)
	calls, stop := callers()
	begin := calls.Load()
	both := func() bool { n := c.counted(t); return n[0] > 0 && n[1] > 0 }
	for i := 0; i < suites.Rounds(30, 2000) || calls.Load() < begin+2000 || i < 1_000_000 && !both(); i++ { // the CPU of the calls may have been stopped
		last := c.loadText(t, bumpAt(i%2)+"r0 = 0\nexit")
		c.put(t, 0, last)
		last.Close()
		if i%3 == 0 {
			c.put(t, 0, nil)
		}
	}
	stop()
	l.Close()
	got, ledger := c.counted(t), l.Ledger()
	if got[0]+got[1]+got[nowhere] != got[2] || got[2]+first.Recursion() != ledger.Handled || ledger.Unexplained() != 0 || got[0] == 0 || got[1] == 0 {
		t.Errorf("%+v: %d ran, %d were followed by one, %d by another, %d by none", ledger, got[2], got[0], got[1], got[nowhere])
	}
	c.close()
}
