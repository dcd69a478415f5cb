//go:build tamago

package bpf

import (
	"encoding/binary"
	"strings"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/queue_and_stack", queues)
	suites.Add("bpf/stacks_of_the_kernel", kernelStacks)
	suites.Add("bpf/events", events)
	suites.Add("bpf/maps_of_maps", mapsOfMaps)
}

// queues: a program moves what it finds in one to the other.
func queues(t *suites.T) {
	p := load(t, `
		map in queue 0 8 8
		map out stack 0 8 8
		r1 = map[idx:0]
		r2 = r10
		r2 += -8
		call 88
		if r0 != 0 goto out
		r1 = map[idx:1]
		r2 = r10
		r2 += -8
		r3 = 0
		call 87
	out:	r1 = map[idx:1]
		r2 = r10
		r2 += -8
		call 89
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	for i := range uint64(8) {
		t.Must(p.maps[0].Push(key8(i), program.Any))
	}
	for i := range uint64(10) {
		square(i)
	}
	l.Close()
	value := make([]byte, 8)
	for i := uint64(7); ; i-- {
		t.Must(p.maps[1].Pull(value, true))
		if got := binary.LittleEndian.Uint64(value); got != i {
			t.Errorf("%d, want %d", got, i)
		}
		if i == 0 {
			break
		}
	}
}

//go:noinline
func scaled(x, y float64) float64 { return 2*x + y }

//go:noinline
func caller(x float64) float64 { return within(x) }

// within is inlined: it has no frame, and no call of its own on the stack.
func within(x float64) float64 { return scaled(x, x) + 1 }

// kernelStacks: the calls that led to a function, by a number and as they are; the first is left out. What
// the function is called with is in registers of SSE, which the walk may not change.
func kernelStacks(t *suites.T) {
	p := load(t, `
		map seen array 4 88 1
		map stacks stack_trace 4 80 64
		r6 = r1
		r2 = map[idx:1]
		r3 = 1
		call 27
		r7 = map[idx:0][0]+0
		*(u64 *)(r7 + 0) = r0
		r1 = r6
		r2 = r7
		r2 += 8
		r3 = 80
		r4 = 1
		call 67
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"scaled")
	defer l.Close()
	for i := range 20 {
		if x := float64(i); caller(x) != 3*x+1 {
			t.Errorf("%v: another result", x)
		}
	}
	got := p.seen(t, 11)
	stack := make([]byte, 80)
	t.Must(p.maps[1].Lookup(0, key4(uint32(got[0])), stack))
	names := ""
	for i := range 2 {
		if pc := binary.LittleEndian.Uint64(stack[8*i:]); pc != got[1+i] {
			t.Errorf("call %d: %#x and %#x", i, pc, got[1+i])
		}
		name, _, _, _ := kallsyms.Kernel().Lookup(got[1+i] - 1)
		names += name + " "
	}
	if !strings.HasSuffix(names, pkg+"caller "+"sonde/"+pkg+"kernelStacks ") {
		t.Errorf("calls of %s", names)
	}
}

func events(t *suites.T) {
	p := load(t, `
		map out perf_event_array 4 4 4
		r6 = *(u64 *)(r1 + 80)
		*(u64 *)(r10 - 8) = r6
		r2 = map[idx:0]
		r3 = 4294967295 ll
		r4 = r10
		r4 += -8
		r5 = 8
		call 25
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	for i := range uint64(100) {
		square(i)
	}
	l.Close()
	sum := uint64(0)
	for rec, ok := p.maps[0].Take(nil); ok; rec, ok = p.maps[0].Take(nil) {
		sum += binary.LittleEndian.Uint64(rec.Data)
	}
	if sum != 4950 || p.maps[0].Lost() != 0 {
		t.Errorf("the sum is %d, %d are lost", sum, p.maps[0].Lost())
	}
}

// mapsOfMaps: what a program counts in is changed while it runs; no hit is lost.
func mapsOfMaps(t *suites.T) {
	inner := bpf.MapSpec{Type: bpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	insns, err := bpf.Assemble(`
		*(u32 *)(r10 - 4) = 0
		r1 = map[idx:0]
		r2 = r10
		r2 += -4
		call 1
		if r0 == 0 goto out
		r1 = r0
		r2 = r10
		r2 += -4
		call 1
		if r0 == 0 goto out
		r1 = *(u64 *)(r0 + 0)
		r1 += 1
		*(u64 *)(r0 + 0) = r1
	out:	r0 = 0
		exit`)
	t.Must(err)
	for _, kind := range []bpf.MapType{bpf.ArrayOfMaps, bpf.HashOfMaps} {
		outer, err := program.NewMap(bpf.MapSpec{Type: kind, KeySize: 4, ValueSize: 4, MaxEntries: 1, Inner: &inner})
		t.Must(err)
		prog, err := program.Load(&bpf.Program{Name: "inner", Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{&outer.Spec}}, []*program.Map{outer}, nil)
		t.Must(err)
		var counts []*program.Map
		add := func() {
			m, err := program.NewMap(inner)
			t.Must(err)
			counts = append(counts, m)
			t.Must(outer.Put(key4(0), m))
		}
		add()
		l, err := prog.AttachTo(nil, pkg+"square")
		t.Must(err)
		calls, stop := callers()
		begin := calls.Load()
		for len(counts) < 8 || calls.Load() < begin+2000 {
			add()
		}
		stop()
		l.Close()
		sum := prog.Recursion()
		for _, m := range counts {
			sum += word(t, m, key4(0))
			m.Close()
		}
		if got := l.Ledger(); got.Handled != sum || got.Unexplained() != 0 {
			t.Errorf("%s: %+v, the maps have %d", kind, got, sum)
		}
		prog.Close()
		outer.Close()
	}
}
