package verify

import (
	"fmt"
	"slices"
	"testing"

	"sonde/bpf"
)

// TestFound: what a compiler is told of functions and maps.
func TestFound(t *testing.T) {
	insns, err := bpf.Assemble(`
		r6 = *(u64 *)(r1 + 0)
		*(u64 *)(r10 - 16) = 0
		r1 = map[idx:0]
		if r6 == 0 goto a
		r1 = map[idx:1]
	a:	r2 = r10
		r2 += -16
		call 1
		r1 = map[idx:1]
		r2 = r10
		r2 += -16
		call 1
		call f
		r0 = 0
		exit
	f:	*(u8 *)(r10 - 1) = 0
		r0 = 0
		exit`)
	if err != nil {
		t.Fatal(err)
	}
	a := &bpf.MapSpec{Name: "a", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	b := &bpf.MapSpec{Name: "b", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}
	c, err := Check(&bpf.Program{Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{a, b}}, NewEnv())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Frames, []int{16, 8}) {
		t.Errorf("frames of %d bytes", c.Frames)
	}
	if len(c.Maps) != 1 || c.Maps[14] != b {
		t.Errorf("maps of calls: %v", c.Maps)
	}
}

// TestLoadsThatMayFail: all loads through pointers to the kernel are listed, and no others.
func TestLoadsThatMayFail(t *testing.T) {
	c, err := check(t, "*(u64 *)(r10 - 8) = 1; r6 = *(u64 *)(r1 + 0); call 158; r7 = r0; *(u64 *)(r10 - 16) = r0; r0 = *(u64 *)(r7 + 8)\n"+
		"if r6 == 0 goto on; r2 = *(u64 *)(r10 - 16); r2 += 64; r0 = *(s8 *)(r2 - 1); on: r0 = *(u64 *)(r10 - 8); exit", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Probes, []int{5, 9}) {
		t.Errorf("loads that may fail: %d, want 5 and 9", c.Probes)
	}
}

// TestSumsHaveRoom: a helper that writes several words of a value gets a map that has them.
func TestSumsHaveRoom(t *testing.T) {
	p := load(t, fmt.Sprintf("*(u64 *)(r10 - 8) = 0; r1 = map[idx:0]; r2 = r10; r2 += -8; r3 = 1; call %d; r0 = 0; exit", bpf.HelperAggAdd))
	for _, size := range []uint32{8, bpf.AggregateSize - 1, bpf.AggregateSize} {
		p.Maps = []*bpf.MapSpec{{Name: "sums", Type: bpf.PerCPUHash, KeySize: 8, ValueSize: size, MaxEntries: 8}}
		if _, err := Check(p, NewEnv()); (err == nil) != (size == bpf.AggregateSize) {
			t.Errorf("values of %d bytes: %v", size, err)
		}
	}
}

// TestConstants: what nobody changes any more is known where it is known which byte is loaded.
func TestConstants(t *testing.T) {
	env := NewEnv()
	env.Constant = map[*bpf.MapSpec][]byte{frozen: {8, 200, 0, 0, 0, 0, 0, 0}}
	for at, want := range map[string]bool{"": true, "r1 += 1; ": false, "r1 += r6; ": false} {
		p := load(t, pruning.Replace("READ; r6 &= 1; FIND; r1 = map[idx:2][0]+0; "+at+"r7 = *(u8 *)(r1 + 0); ADD"+out))
		if _, err := Check(p, env); (err == nil) != want {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// TestIndices: an element of an array is known if all paths have the same.
func TestIndices(t *testing.T) {
	const lookup = "r1 = map[idx:2]; r2 = r10; r2 += -4; call 1; r0 = 0; exit"
	for text, want := range map[string]int64{
		"*(u32 *)(r10 - 4) = 3; " + lookup:                                                                               3,
		"r6 = *(u32 *)(r1 + 0); *(u32 *)(r10 - 4) = r6; " + lookup:                                                       -1,
		"r6 = *(u32 *)(r1 + 0); *(u32 *)(r10 - 4) = 3; if r6 == 0 goto on; *(u32 *)(r10 - 4) = 4; on: " + lookup:         -1,
		"r6 = *(u32 *)(r1 + 0); *(u32 *)(r10 - 4) = 3; if r6 == 0 goto on; *(u32 *)(r10 - 4) = r6; on: " + lookup:        -1,
		"r6 = *(u32 *)(r1 + 0); *(u32 *)(r10 - 4) = r6; if r6 == 0 goto on; *(u32 *)(r10 - 4) = 3; on: " + lookup:        -1,
		"r6 = *(u32 *)(r1 + 0); *(u32 *)(r10 - 4) = 3; if r6 == 0 goto on; *(u32 *)(r10 - 4) = 3; r7 = 1; on: " + lookup: 3,
	} {
		got, err := check(t, text, Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, index := range got.Indices {
			if index != want {
				t.Errorf("%s: %d, want %d", text, index, want)
			}
		}
		if len(got.Indices) != 1 {
			t.Errorf("%s: %d calls", text, len(got.Indices))
		}
	}
}
