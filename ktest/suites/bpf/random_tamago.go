//go:build tamago

package bpf

import (
	"bytes"
	"strings"
	"time"

	"sonde/bpf"
	"sonde/bpf/random"
	"sonde/internal/interp"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() { suites.Add("bpf/random_programs", randomPrograms) }

//go:noinline
func nothing() {}

// hitEach is how many programs are run for each that is run by a hit, which takes ten times as long.
const hitEach = 10

// randomPrograms runs programs that are made by chance, and interprets them: what they leave in memory is the
// same. TestRandom of package jit does so on the host, in its long run a million times.
func randomPrograms(t *suites.T) {
	t.OneProcessor()
	seed, many := uint64(time.Now().UnixNano()), suites.Rounds(300, 100_000)
	t.Logf("seed %d", seed)
	m, err := program.NewMap(random.Map)
	t.Must(err)
	defer m.Close()
	ran := 0
	for i := uint64(0); ran < many; i++ {
		if i == 1000 && ran == 0 {
			t.Fatalf("no program is accepted")
		}
		insns := random.OnMap(random.Program(seed, i, random.Helpers{}))
		p, err := program.Load(&bpf.Program{Name: "random", Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{&m.Spec}}, []*program.Map{m}, nil)
		if err != nil && strings.Contains(err.Error(), "no path leads here") {
			continue
		}
		t.Must(err)
		if ran++; ran%10_000 == 0 {
			t.Logf("%d programs", ran)
		}
		before := make([]byte, m.Spec.ValueSize)
		for j := range before {
			before[j] = byte(i>>(j%8*8)) * byte(j|1)
		}
		t.Must(m.Update(0, key4(0), before, program.Any))
		if ran%hitEach == 0 {
			hitOnce(t, p)
		} else {
			p.Run("", nil)
		}
		got, want := make([]byte, len(before)), interpreted(t, insns, before)
		t.Must(m.Lookup(0, key4(0), got))
		if !bytes.Equal(got, want) {
			text, _ := bpf.Disassemble(insns)
			t.Fatalf("program %d of seed %d leaves\n%x, want\n%x\n%s", i, seed, got, want, text)
		}
		p.Close()
	}
}

// hitOnce runs a program at a hit.
func hitOnce(t *suites.T, p *program.Prog) {
	l, err := p.AttachTo(nil, pkg+"nothing")
	t.Must(err)
	nothing()
	l.Close()
	if got := l.Ledger(); got.Handled != 1 || p.Recursion() != 0 {
		t.Fatalf("%+v, %d hits were inside of others", got, p.Recursion())
	}
}

func interpreted(t *suites.T, insns []bpf.Insn, before []byte) []byte {
	const at = 0x1000_0000
	memory := bytes.Clone(before)
	i, err := interp.New(insns)
	t.Must(err)
	i.Regions = []interp.Region{{Name: "memory", Base: at, Bytes: memory, Writable: true}}
	i.Resolve = func(_, _ bpf.Insn) (uint64, error) { return at, nil }
	_, err = i.Run(0)
	t.Must(err)
	return memory
}
