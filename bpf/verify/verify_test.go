package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sonde/bpf"
)

var (
	counts = &bpf.MapSpec{Name: "counts", Type: bpf.Hash, KeySize: 8, ValueSize: 16, MaxEntries: 64}
	ring   = &bpf.MapSpec{Name: "ring", Type: bpf.RingBuf, MaxEntries: 4096}
	frozen = &bpf.MapSpec{Name: "frozen", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1, Flags: bpf.ReadOnlyProgram}
	outer  = &bpf.MapSpec{Name: "outer", Type: bpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 2, Inner: counts}
	sink   = &bpf.MapSpec{Name: "sink", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1, Flags: bpf.WriteOnlyProgram}
	others = &bpf.MapSpec{Name: "others", Type: bpf.ProgArray, KeySize: 4, ValueSize: 4, MaxEntries: 8}
	routes = &bpf.MapSpec{Name: "routes", Type: bpf.LPMTrie, KeySize: 8, ValueSize: 8, MaxEntries: 64}
)

// Short forms for programs: after lookup, R0 is a value of counts or 0; after reserve, a record
// of 16 bytes or 0. Tail continues as another program.
var short = strings.NewReplacer("; ", "\n",
	"LOOKUP", "r2 = r10\nr2 += -8\n*(u64 *)(r10 - 8) = 0\nr1 = map[idx:0]\ncall 1",
	"RESERVE", "r1 = map[idx:1]\nr2 = 16\nr3 = 0\ncall 131",
	"TAIL", "r2 = map[idx:5]\nr3 = 0\ncall 12")

func load(t testing.TB, text string) *bpf.Program {
	t.Helper()
	insns, err := bpf.Assemble(short.Replace(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &bpf.Program{Name: "test", Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{counts, ring, frozen, outer, sink, others, routes}}
}

// check returns what Check finds with the limits.
func check(t testing.TB, text string, limits Limits) (*Checked, *Error) {
	t.Helper()
	env := NewEnv()
	env.Limits = limits
	c, err := Check(load(t, text), env)
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%s: %v is not an *Error", text, err)
	}
	return c, e
}

func TestAccepted(t *testing.T) {
	for _, c := range []struct {
		text         string
		worst, stack int
	}{
		{"r0 = 0; exit", 2, 0},
		{"r1 = *(u64 *)(r1 + 112); r0 = r1; exit", 3, 0},
		{"LOOKUP; if r0 == 0 goto out; r1 = 1; lock *(u64 *)(r0 + 8) += r1; out: r0 = 0; exit", 1360, 8},
		{"LOOKUP; r6 = r0; if r6 == 0 goto out; r1 = *(u64 *)(r0 + 8); out: r0 = 0; exit", 1360, 8},
		{"RESERVE; if r0 == 0 goto out; *(u64 *)(r0 + 8) = 1; r1 = r0; r2 = 0; call 132; out: r0 = 0; exit", 171, 0},
		// A branch is longer than the other; what follows both is walked once.
		{"r0 = *(u32 *)(r1 + 0); if r0 == 0 goto out; r0 = 1; r0 = 2; r0 = 3; out: r0 = 0; exit", 7, 0},
		{"r0 = *(u32 *)(r1 + 0); if r0 != 0 goto on; goto out; on: r0 = 1; r0 = 2; r0 = 3; out: r0 = 0; exit", 7, 0},
		// A loop of 100 times 2 instructions.
		{"r0 = 0; l: r0 += 1; if r0 < 100 goto l; exit", 202, 0},
		// A copy is compared, and the other used: through a spill, and with a constant added.
		{"r6 = *(u64 *)(r1 + 0); r7 = r6; if r7 > 8 goto out; LOOKUP; if r0 == 0 goto out; r0 += r6; r1 = *(u8 *)(r0 + 0); out: r0 = 0; exit", 1363, 8},
		{"r6 = *(u64 *)(r1 + 0); *(u64 *)(r10 - 16) = r6; if r6 > 8 goto out; LOOKUP; if r0 == 0 goto out; r1 = *(u64 *)(r10 - 16); r0 += r1; r1 = *(u8 *)(r0 + 0); out: r0 = 0; exit", 1364, 16},
		{"r6 = *(u64 *)(r1 + 0); r7 = r6; r7 += 1; if r7 > 8 goto out; if r7 == 0 goto out; LOOKUP; if r0 == 0 goto out; r0 += r6; r1 = *(u8 *)(r0 + 0); out: r0 = 0; exit", 1365, 8},
		// 32-bit comparison of a number that was loaded with 32 bits.
		{"r6 = *(u32 *)(r1 + 0); if w6 > 15 goto out; LOOKUP; if r0 == 0 goto out; r0 += r6; r1 = *(u8 *)(r0 + 0); out: r0 = 0; exit", 1362, 8},
		// A size with a bound.
		{"r6 = *(u64 *)(r1 + 0); r6 &= 63; r2 = r6; r1 = r10; r1 += -64; r3 = 0; call 113; r0 = 0; exit", 257, 64},
		{"call f; exit; f: r0 = 1; exit", 4, 0},
		{"r1 = 10; r2 = subprog[f]; r3 = 0; r4 = 0; call 181; r0 = 0; exit; f: r0 = 0; exit", 477, 0},
		{"r1 = map[idx:2][0]+4; r0 = *(u32 *)(r1 + 0); exit", 3, 0},
		{"TAIL; r0 = 0; exit", 45, 0},
		// A prefix is found, set and removed; on the way to it there is a node for each bit.
		{"*(u64 *)(r10 - 8) = 32; r1 = map[idx:6]; r2 = r10; r2 += -8; call 1; if r0 == 0 goto out; r1 = *(u64 *)(r0 + 0); out: r0 = 0; exit", 12879, 8},
		{"*(u64 *)(r10 - 8) = 32; r1 = map[idx:6]; r2 = r10; r2 += -8; r3 = r2; r4 = 0; call 2; r1 = map[idx:6]; r2 = r10; r2 += -8; call 3; r0 = 0; exit", 30969, 8},
		// Programs may learn addresses: they return, compare and subtract pointers.
		{"r0 = r1; exit", 2, 0},
		{"r0 = r10; exit", 2, 0},
		{"r2 = r10; r2 -= r10; r0 = 0; exit", 4, 0},
		{"r0 = 0; if r10 == 5 goto out; if r1 > r10 goto out; if w1 == 0 goto out; r0 = 1; out: exit", 6, 0},
		// What Linux refuses of a constant, a register may do.
		{"r1 = 0; r0 = 5; r0 /= r1; r1 = 64; r0 <<= r1; w0 >>= 31; exit", 7, 0},
		{"call 158; r0 = *(u64 *)(r0 + 1000); exit", 23, 0},
	} {
		got, err := check(t, c.text, Limits{})
		if err != nil {
			t.Errorf("%s\nrefused: %v", c.text, err)
		} else if got.Worst != c.worst || got.Stack != c.stack {
			t.Errorf("%s\nworst %d, stack %d: expected %d, %d", c.text, got.Worst, got.Stack, c.worst, c.stack)
		}
	}
}

// TestRecordsEnd: of a tracepoint's record, programs read as much as there is.
func TestRecordsEnd(t *testing.T) {
	for off, want := range map[int]bool{0: false, 8: true, bpf.RecordSize - 8: true, bpf.RecordSize - 4: false, bpf.RecordSize: false, 8184: false} {
		p := load(t, fmt.Sprintf("r0 = *(u64 *)(r1 + %d); exit", off))
		p.Type = bpf.Tracepoint
		if _, err := Check(p, NewEnv()); (err == nil) != want {
			t.Errorf("at %d: %v", off, err)
		}
	}
}

// TestHelpersAreOfTypes: a filter has no hit, and a function's arguments are where it is called.
func TestHelpersAreOfTypes(t *testing.T) {
	for _, c := range []struct {
		text string
		in   []bpf.Type
	}{
		{"call 5; exit", []bpf.Type{bpf.SocketFilter, bpf.Kprobe, bpf.Tracepoint, bpf.RawTracepoint}},
		{"call 14; exit", []bpf.Type{bpf.Kprobe, bpf.Tracepoint, bpf.RawTracepoint}},
		{"call 173; exit", []bpf.Type{bpf.Kprobe, bpf.Tracepoint}},
		{"call 174; exit", []bpf.Type{bpf.Kprobe, bpf.Tracepoint}},
		{"call 185; exit", []bpf.Type{bpf.Kprobe}},
	} {
		for _, kind := range []bpf.Type{bpf.SocketFilter, bpf.Kprobe, bpf.Tracepoint, bpf.RawTracepoint} {
			p := load(t, c.text)
			p.Type = kind
			_, err := Check(p, NewEnv())
			if (err == nil) != slices.Contains(c.in, kind) || err != nil && !strings.Contains(err.Error(), "it is not for programs of type "+kind.String()) {
				t.Errorf("%s in a program of type %s: %v", c.text, kind, err)
			}
		}
	}
}

// TestRecordsAreReadLikeMemory: bpftrace copies texts of a tracepoint's record by bpf_probe_read_kernel. The
// context of a kprobe is no memory.
func TestRecordsAreReadLikeMemory(t *testing.T) {
	for kind, want := range map[bpf.Type]bool{bpf.Tracepoint: true, bpf.Kprobe: false, bpf.PerfEvent: false} {
		for _, from := range []string{"r3 = r1; r3 += 40", "r3 = *(u32 *)(r1 + 8); r3 &= 65535; r3 += r1"} { // the second is of __data_loc
			p := load(t, from+"; r1 = r10; r1 += -16; r2 = 16; call 113; r0 = 0; exit")
			p.Type = kind
			if _, err := Check(p, NewEnv()); (err == nil) != want {
				t.Errorf("%s, %s: %v", kind, from, err)
			}
		}
	}
	p := load(t, "r3 = *(u32 *)(r1 + 8); r3 &= 65535; r3 += r1; r0 = *(u8 *)(r3 + 0); exit")
	p.Type = bpf.Tracepoint
	if _, err := Check(p, NewEnv()); err == nil || !strings.Contains(err.Error(), "a context pointer that was moved") {
		t.Errorf("a load: %v", err)
	}
}
