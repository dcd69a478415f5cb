package program

import (
	"math"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/probe/attach"
)

// word is the address of bytes that the test keeps.
func wordOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// TestStrings: a string is read up to its end, or cut so that it has one.
func TestStrings(t *testing.T) {
	from := []byte("vfs\x00rest")
	for name, read := range map[string]helper{"kernel": helpReadString, "process": helpReadUserString, "any": helpReadAnyString} {
		for _, c := range []struct {
			room int
			want string
			n    uintptr
		}{{8, "vfs\x00", 4}, {4, "vfs\x00", 4}, {3, "vf\x00", 3}, {1, "\x00", 1}, {0, "", 0}} {
			to := []byte("????????")
			n := read(wordOf(to), uintptr(c.room), wordOf(from), 0, 0, 0, 0, nil)
			if n != c.n || !strings.HasPrefix(string(to), c.want) || strings.Trim(string(to[c.room:]), "?") != "" {
				t.Errorf("%s, %d bytes of room: %d, %q", name, c.room, int(n), to)
			}
		}
	}
	to := []byte("????")
	if n := cut(wordOf(to), 4, 2); n != result(syscall.EFAULT) || string(to) != "\x00\x00\x00\x00" {
		t.Errorf("a string that goes on where nothing is: %d, %q", int(n), to)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    uintptr
		sign int
	}{{"read\x00", "read\x00", 5, 0}, {"read", "reap\x00", 4, -1}, {"reads", "read\x00", 4, 0}, {"reads", "read\x00", 5, 1}, {"\x00x", "\x00", 2, 0}, {"\xff", "a\x00", 1, 1}} {
		got := int(helpCompare(wordOf([]byte(c.a)), c.n, wordOf([]byte(c.b)), 0, 0, 0, 0, nil))
		if got > 0 != (c.sign > 0) || got < 0 != (c.sign < 0) {
			t.Errorf("%d bytes of %q and %q: %d", c.n, c.a, c.b, got)
		}
	}
}

// TestBuckets: a program, a helper and a reader have the same number in the same bucket.
func TestBuckets(t *testing.T) {
	for n, want := range map[int64]int{math.MinInt64: 0, -1: 0, 0: 1, 1: 2, 2: 3, 3: 3, 4: 4, 1 << 40: 42, math.MaxInt64: bpf.HistBuckets - 1} {
		if got := helpLog2(uintptr(n), 0, 0, 0, 0, 0, 0, nil); got != uintptr(want) || bpf.Bucket(n) != want {
			t.Errorf("%d: bucket %d and %d, want %d", n, got, bpf.Bucket(n), want)
		}
	}
}

// TestSums: histograms and aggregates, in maps that have the key and in some that get it.
func TestSums(t *testing.T) {
	for _, kind := range []bpf.MapType{bpf.PerCPUHash, bpf.PerCPUArray} {
		h := newMap(t, bpf.MapSpec{Type: kind, KeySize: 4, ValueSize: 8 * bpf.HistBuckets, MaxEntries: 2})
		a := newMap(t, bpf.MapSpec{Type: kind, KeySize: 4, ValueSize: bpf.AggregateSize, MaxEntries: 2})
		key := []byte{1, 0, 0, 0}
		for _, n := range []int64{-5, 0, 7, 7} {
			for _, f := range []uintptr{
				helpHistAdd(uintptr(unsafe.Pointer(h)), wordOf(key), uintptr(n), 0, 0, 0, 2, nil),
				helpAggAdd(uintptr(unsafe.Pointer(a)), wordOf(key), uintptr(n), 0, 0, 0, 2, nil),
			} {
				if f != 0 {
					t.Fatalf("%s: %d", kind, int(f))
				}
			}
		}
		var counts [bpf.HistBuckets]uint64
		if err := h.Lookup(2, key, unsafe.Slice((*byte)(unsafe.Pointer(&counts)), 8*bpf.HistBuckets)); err != nil || counts[0] != 1 || counts[1] != 1 || counts[4] != 2 {
			t.Errorf("%s: %v, %v", kind, err, counts)
		}
		var sum bpf.Aggregate
		if err := a.Lookup(2, key, unsafe.Slice((*byte)(unsafe.Pointer(&sum)), bpf.AggregateSize)); err != nil || sum != (bpf.Aggregate{Count: 4, Sum: 9, Min: -5, Max: 7}) {
			t.Errorf("%s: %v, %+v", kind, err, sum)
		}
		for _, n := range []int64{-7, -3} { // 0 is not among them
			helpAggAdd(uintptr(unsafe.Pointer(a)), wordOf(key), uintptr(n), 0, 0, 0, 1, nil)
		}
		if err := a.Lookup(1, key, unsafe.Slice((*byte)(unsafe.Pointer(&sum)), bpf.AggregateSize)); err != nil || sum != (bpf.Aggregate{Count: 2, Sum: -10, Min: -7, Max: -3}) {
			t.Errorf("%s, negative numbers: %v, %+v", kind, err, sum)
		}
		if kind == bpf.PerCPUArray {
			if got := helpHistAdd(uintptr(unsafe.Pointer(h)), wordOf([]byte{2, 0, 0, 0}), 1, 0, 0, 0, 0, nil); got != result(syscall.E2BIG) {
				t.Errorf("behind the array: %d", int(got))
			}
		}
	}
}

// TestArguments: which registers they are in depends on what was hit.
func TestArguments(t *testing.T) {
	r := &amd64.Regs{AX: 1, BX: 2, CX: 3, DI: 4, SI: 5, R8: 6, R9: 7, R10: 8, R11: 9, DX: 10}
	type place struct {
		kind       attach.Kind
		convention goabi.Convention
	}
	for kind, want := range map[place][]uint64{
		{kind: attach.Kernel}: {1, 2, 3, 4, 5, 6, 7, 8, 9}, {kind: attach.Program}: {4, 5, 10, 3, 6, 7}, {kind: attach.Call}: {4, 5, 10, 8, 6, 7},
		{attach.Program, goabi.Regs}: {1, 2, 3, 4, 5, 6, 7, 8, 9}, {attach.Program, goabi.Stack}: nil,
	} {
		hit := &attach.Hit{Regs: r, Place: &attach.Place{Site: &attach.Site{Kind: kind.kind}, Convention: kind.convention}}
		for i, n := range want {
			var v uint64
			if e := helpArgTo(0, uintptr(i), uintptr(unsafe.Pointer(&v)), 0, 0, 0, 0, hit); e != 0 || v != n || helpArg(0, uintptr(i), 0, 0, 0, 0, 0, hit) != uintptr(n) {
				t.Errorf("argument %d of kind %v: %d, %d", i, kind, int(e), v)
			}
		}
		if n := helpArgs(0, 0, 0, 0, 0, 0, 0, hit); n != uintptr(len(want)) {
			t.Errorf("%d arguments of kind %v", n, kind)
		}
		for _, i := range []uintptr{uintptr(len(want)), 1 << 40} {
			if e := helpArgTo(0, i, 0, 0, 0, 0, 0, hit); e != result(syscall.EINVAL) || helpArg(0, i, 0, 0, 0, 0, 0, hit) != 0 {
				t.Errorf("argument %d of kind %v: %d", i, kind, int(e))
			}
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		text, what string
		want       uintptr
	}{{"hello", "hello", 1}, {"hello\x00x", "x", 0}, {"hello", "", 1}, {"\x00", "", 1}, {"ab", "abc", 0}, {"ababac", "abac", 1}, {"aaa", "b", 0}, {"ab", "b\x00c", 1}} {
		text, what := []byte(c.text), append([]byte(c.what), 0)
		got := helpContains(uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), uintptr(unsafe.Pointer(&what[0])), uintptr(len(what)), 0, 0, 0, nil)
		if got != c.want {
			t.Errorf("%q in %q: %d", c.what, c.text, got)
		}
	}
}
