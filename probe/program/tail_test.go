package program

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"sonde/bpf"
)

// onward goes on as the program at index 1 of its array.
const onward = "r2 = map[idx:0]\nr3 = 1\ncall 12\nr0 = 0\nexit"

func progArray(t *testing.T) *Map {
	return newMap(t, bpf.MapSpec{Name: "next", Type: bpf.ProgArray, KeySize: 4, ValueSize: 4, MaxEntries: 4})
}

// mustLoad loads a program with a type and maps.
func mustLoad(t *testing.T, kind bpf.Type, text string, maps ...*Map) *Prog {
	t.Helper()
	prog, err := loadText(t, kind, text, maps...)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

func loadText(t *testing.T, kind bpf.Type, text string, maps ...*Map) (*Prog, error) {
	t.Helper()
	insns, err := bpf.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	p := &bpf.Program{Name: "one", Type: kind, Insns: insns}
	for _, m := range maps {
		p.Maps = append(p.Maps, &m.Spec)
	}
	return Load(p, maps, nil)
}

// entered is where tail calls of a view lead at an index.
func entered(m *Map, at, view int) uintptr {
	return *(*uintptr)(unsafe.Add(m.base, uintptr(at)*m.stride+uintptr(view)*wordSize))
}

// TestProgramArrays: what is at an index is entered where its view of registers is, and is kept.
func TestProgramArrays(t *testing.T) {
	used := memory.inUse()
	m := progArray(t)
	a, b := mustLoad(t, bpf.Kprobe, onward, m), mustLoad(t, bpf.Kprobe, "r0 = *(u64 *)(r1 + 112)\nexit")
	if err := errors.Join(m.PutProg(0, a), m.PutProg(1, b)); err != nil {
		t.Fatal(err)
	}
	seen := map[uintptr]bool{}
	for view := range views {
		v := b.versions()[view]
		if v == nil || entered(m, 1, view) != v.tail || entered(m, 0, view) != a.versions()[view].tail {
			t.Fatalf("view %d: another program is entered", view)
		}
		seen[v.tail] = true
	}
	if len(seen) != views || entered(m, 2, 0) != 0 {
		t.Error("programs with other views, or none, are entered alike")
	}
	if b.Close(); !slices.Contains(Programs(), b) || m.ProgAt(1) != b {
		t.Error("a program is gone that others can go on as")
	}
	if err := m.PutProg(1, a); err != nil || slices.Contains(Programs(), b) || m.ProgAt(1) != a {
		t.Errorf("a program is replaced, and left: %v", err)
	}
	if err := m.PutProg(1, nil); err != nil || entered(m, 1, 0) != 0 || m.ProgAt(1) != nil {
		t.Errorf("a program is taken away, and there: %v", err)
	}
	a.Close()
	if m.Close(); len(Programs()) != 0 || memory.inUse() != used {
		t.Error("something is left")
	}
}

// TestAbandonedArrays: programs in an array that only programs use go, also those that keep it.
func TestAbandonedArrays(t *testing.T) {
	used := memory.inUse()
	for _, hold := range []func(m *Map) (release func()){
		func(m *Map) func() { return m.Close },
		func(m *Map) func() { Hold(m); m.Close(); return func() { Release(m) } },
		func(m *Map) func() { Pin(PinDir+"/m", m); m.Close(); return func() { pinned{}.Remove("m") } },
	} {
		m := progArray(t)
		release := hold(m)
		self, user := mustLoad(t, bpf.Kprobe, onward, m), mustLoad(t, bpf.Kprobe, onward, m)
		if err := m.PutProg(1, self); err != nil {
			t.Fatal(err)
		}
		if self.Close(); !slices.Contains(Programs(), self) {
			t.Error("a program is gone that others can go on as")
		}
		release()
		if slices.Contains(Programs(), self) || entered(m, 1, 0) != 0 {
			t.Error("nobody holds the array, and it has a program")
		}
		if user.Close(); len(Programs()) != 0 || memory.inUse() != used {
			t.Error("something is left")
		}
	}
}

// TestRefusedInArrays: an array is for programs that find the same, and for nothing else.
func TestRefusedInArrays(t *testing.T) {
	used := memory.inUse()
	m, counts := progArray(t), newMap(t, bpf.MapSpec{Name: "counts", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	a, b := mustLoad(t, bpf.Kprobe, onward, m), mustLoad(t, bpf.Tracepoint, "r0 = 0\nexit")
	gone := mustLoad(t, bpf.Kprobe, "r0 = 0\nexit")
	gone.Close()
	_, other := loadText(t, bpf.PerfEvent, onward, m)
	for _, c := range []struct {
		err   error
		errno syscall.Errno
		why   string
	}{
		{m.PutProg(0, b), syscall.EINVAL, "map next is for kprobe programs, and one is one of the tracepoint programs"},
		{other, syscall.EINVAL, "map next is for kprobe programs, and one is one of the perf_event programs"},
		{m.PutProg(4, a), syscall.E2BIG, "map next: there is no index 4"},
		{m.PutProg(0, nil), syscall.ENOENT, "map next: there is nothing at 0"},
		{m.PutProg(0, gone), syscall.EBADF, "program one is closed"},
		{counts.PutProg(0, a), syscall.EINVAL, "map counts is of type array: only a prog_array has programs"},
		{m.Update(0, key4(0), key4(1), Any), syscall.EINVAL, "map next: a prog_array has no values by key to copy"},
		{m.Lookup(0, key4(0), key4(1)), syscall.EINVAL, "map next: a prog_array has no values by key to copy"},
		{m.Delete(0, key4(0)), syscall.EINVAL, "map next: a prog_array has no values by key to copy"},
	} {
		if !errors.Is(c.err, c.errno) || !strings.Contains(c.err.Error(), c.why) {
			t.Errorf("%v, want %v: %s", c.err, c.errno, c.why)
		}
	}
	m.Range(0, func(_, _ []byte) bool { t.Error("it has a value"); return false })
	if a.users != 0 || b.users != 0 {
		t.Error("what was refused is held")
	}
	a.Close()
	b.Close()
	counts.Close()
	if m.Close(); len(Programs()) != 0 || memory.inUse() != used {
		t.Error("something is left")
	}
	if err := m.PutProg(0, nil); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
}

// TestRefusedLeavesArrays: a program that is refused leaves the arrays that it would use as they were, and code
// memory, too.
func TestRefusedLeavesArrays(t *testing.T) {
	const onwardInBoth = "r6 = r1\nr2 = map[idx:0]\nr3 = 1\ncall 12\nr1 = r6\nr2 = map[idx:1]\nr3 = 1\ncall 12\nr0 = 0\nexit"
	fresh, taken := progArray(t), progArray(t)
	user := mustLoad(t, bpf.Kprobe, onward, taken)
	inUse := slices.Clone(code.used)
	if _, err := loadText(t, bpf.Tracepoint, onwardInBoth, fresh, taken); !errors.Is(err, syscall.EINVAL) {
		t.Fatal(err)
	}
	if _, ok := fresh.Family(); ok {
		t.Error("an array is for programs like one that was refused")
	}
	if !slices.Equal(code.used, inUse) {
		t.Error("code memory is lost")
	}
	both := mustLoad(t, bpf.Kprobe, onwardInBoth, fresh, taken)
	for _, close := range []func(){user.Close, both.Close, fresh.Close, taken.Close} {
		close()
	}
}

// TestNoRoomInArrays: a program for whose other views of registers there is no room is not in the array, and not held.
func TestNoRoomInArrays(t *testing.T) {
	m := progArray(t)
	p := mustLoad(t, bpf.Kprobe, "r0 = *(u64 *)(r1 + 112)\nexit")
	inUse := slices.Clone(code.used)
	code.mark(0, len(code.used), true)
	if err := m.PutProg(0, p); !errors.Is(err, syscall.ENOMEM) || m.ProgAt(0) != nil || p.users != 0 {
		t.Errorf("%v, and %d hold it", err, p.users)
	}
	copy(code.used, inUse)
	if p.Close(); slices.Contains(Programs(), p) {
		t.Error("a program is held by an array that does not have it")
	}
	m.Close()
}

// TestNothingIntoAbandonedArrays: an array that only programs use takes no program, which nobody could take away.
func TestNothingIntoAbandonedArrays(t *testing.T) {
	used := memory.inUse()
	m := progArray(t)
	user, late := mustLoad(t, bpf.Kprobe, onward, m), mustLoad(t, bpf.Kprobe, "r0 = 0\nexit")
	m.Close()
	if err := m.PutProg(1, late); !errors.Is(err, syscall.EBADF) {
		t.Errorf("%v, want %v", err, syscall.EBADF)
	}
	late.Close()
	if user.Close(); len(Programs()) != 0 || memory.inUse() != used {
		t.Error("something is left")
	}
}

// TestArraysOfTwoAtOnce: of two programs of different families that are loaded at the same time, and use the same
// array, one is refused, and leaves its other array as it was.
func TestArraysOfTwoAtOnce(t *testing.T) {
	own, both := progArray(t), progArray(t)
	one, two := mustLoad(t, bpf.Kprobe, "r0 = 0\nexit"), mustLoad(t, bpf.Tracepoint, "r0 = 0\nexit")
	ofOne := append([]*Map{own, both}, slices.Repeat([]*Map{own}, 1_000_000)...) // which takes longer than the other needs to begin
	for round := range 10 {
		own.family, both.family = nil, nil
		done := make(chan error)
		go func() { done <- one.joins(ofOne...) }()
		time.Sleep(time.Millisecond)
		second := two.joins(both)
		first := <-done
		if (first == nil) == (second == nil) || (first == nil) != (own.family != nil) {
			t.Errorf("round %d: %v, %v; the arrays are for %v and %v", round, first, second, own.family, both.family)
		}
	}
	for _, close := range []func(){one.Close, two.Close, own.Close, both.Close} {
		close()
	}
}
