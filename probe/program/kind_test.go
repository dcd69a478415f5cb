package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"sonde/bpf"
)

// TestEvicts: a full map takes new keys, and what is used stays; what is not, goes.
func TestEvicts(t *testing.T) {
	for _, kind := range []bpf.MapType{bpf.LRUHash, bpf.LRUPerCPUHash} {
		m := newMap(t, bpf.MapSpec{Type: kind, KeySize: 8, ValueSize: 8, MaxEntries: 8})
		cpu := 1
		for i := range uint64(1000) {
			if err := m.Update(cpu, key8(i), key8(i*i), Any); err != nil {
				t.Fatal(err)
			}
			if m.find(m.table(cpu), at(key8(0))) == nil { // as programs do
				t.Fatalf("%s: after %d keys, the one is gone that was used after each", kind, i)
			}
		}
		n := 0
		m.Range(cpu, func(key, value []byte) bool {
			n++
			i := binary.LittleEndian.Uint64(key)
			if binary.LittleEndian.Uint64(value) != i*i || i != 0 && i < 900 {
				t.Errorf("%s: key %d has %x", kind, i, value)
			}
			return true
		})
		if n != 8 || m.Lost() != 0 || (*table)(m.table(cpu)).entries.Load() != 8 {
			t.Errorf("%s: %d keys, %d lost", kind, n, m.Lost())
		}
	}
}

// TestUpdatesAreUses: a key that is only updated stays, too.
func TestUpdatesAreUses(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.LRUHash, KeySize: 8, ValueSize: 8, MaxEntries: 8})
	for i := range uint64(1000) {
		for _, k := range []uint64{i + 1, 0} {
			if err := m.Update(0, key8(k), key8(i), Any); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 && m.Update(0, key8(0), key8(i), Exist) != nil {
			t.Fatalf("after %d keys, the one is gone that was updated after each", i)
		}
		if n := evictions(m); n != max(0, int64(i)+2-8) {
			t.Fatalf("after %d keys, %d were evicted: the one that is updated is added again and again", i+2, n)
		}
	}
}

// evictions is how many keys have gone of those that were added.
func evictions(m *Map) int64 {
	head := (*table)(m.table(0))
	return int64(head.clock.Load()) - head.entries.Load()
}

// TestEvictionNeedsTheLock: a key that another CPU is changing is not evicted.
func TestEvictionNeedsTheLock(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.LRUHash, KeySize: 8, ValueSize: 8, MaxEntries: 2})
	head := (*table)(m.table(0))
	for k := range uint64(2) {
		if err := m.Update(0, key8(k), key8(k), Any); err != nil {
			t.Fatal(err)
		}
	}
	held := m.hash(at(key8(0))) // the older one's
	added := uint64(2)
	for m.hash(at(key8(added)))>>lockShift == held>>lockShift {
		added++
	}
	l := head.lock(held)
	if err := m.Update(0, key8(added), key8(0), Any); !errors.Is(err, syscall.E2BIG) || m.findEntry(head, at(key8(0))) == nil {
		t.Errorf("%v: the key is evicted while its lock is held", err)
	}
	l.Store(0)
	if err := m.Update(0, key8(added), key8(0), Any); err != nil || m.findEntry(head, at(key8(0))) != nil {
		t.Errorf("%v: the key stays when its lock is free", err)
	}
	if l.Load() != 0 {
		t.Error("the lock of the key that was evicted is not given back")
	}
}

// TestCopiesAreWhole: what is copied while the entry becomes another key's is no copy.
func TestCopiesAreWhole(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.LRUHash, KeySize: 8, ValueSize: 8, MaxEntries: 1})
	head, key, value := (*table)(m.table(0)), make([]byte, 8), make([]byte, 8)
	if err := m.Update(0, key8(1), key8(1), Any); err != nil {
		t.Fatal(err)
	}
	e := m.findEntry(head, at(key8(1)))
	w := e.word.Load()
	if !m.copyOf(e, at(key8(1)), at(value)) || m.copyOf(e, at(key8(2)), at(value)) {
		t.Error("what is copied is not the value of the key")
	}
	if !m.copyEntry(e, w, at(key), at(value)) {
		t.Error("an entry that nobody changes is not copied")
	}
	for _, change := range []func(){
		func() { m.Delete(0, key8(1)) },
		func() { m.Update(0, key8(1), key8(2), Any) }, // the same key at the same place, once more
	} {
		if change(); m.copyEntry(e, w, at(key), at(value)) {
			t.Errorf("%x with %x is a copy of an entry that has changed meanwhile", key, value)
		}
	}
}

// TestEvictsOnManyCPUs: all add keys at once. No key is there twice, values are those of their keys, and the
// count of keys is right.
func TestEvictsOnManyCPUs(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.LRUHash, KeySize: 8, ValueSize: 8, MaxEntries: 32})
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			got := make([]byte, 8)
			for i := range uint64(20_000) {
				k := (i*7 + w) % 100
				m.Update(0, key8(k), key8(^k), Any) // it may be lost: another CPU changes what would be evicted
				if m.Lookup(0, key8(k), got) == nil && binary.LittleEndian.Uint64(got) != ^k {
					t.Errorf("key %d has %x", k, got)
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint64]bool{}
	m.Range(0, func(key, _ []byte) bool {
		k := binary.LittleEndian.Uint64(key)
		if seen[k] {
			t.Errorf("key %d is there twice", k)
		}
		seen[k] = true
		return true
	})
	if n := (*table)(m.table(0)).entries.Load(); n != int64(len(seen)) || n > 32 {
		t.Errorf("%d keys are there, %d are counted", len(seen), n)
	}
}

// TestQueues: what comes out, in which order, and what a full and an empty one say.
func TestQueues(t *testing.T) {
	for kind, order := range map[bpf.MapType][]uint64{bpf.Queue: {3, 4, 5}, bpf.Stack: {5, 4, 3}} {
		m := newMap(t, bpf.MapSpec{Type: kind, ValueSize: 8, MaxEntries: 3})
		value := key8(99)
		for range 3 { // the places are used again
			if err := m.Pull(value, true); !errors.Is(err, syscall.ENOENT) || !bytes.Equal(value, key8(0)) {
				t.Fatalf("%s: %v, %x of an empty one", kind, err, value)
			}
			for i := range uint64(3) {
				if err := m.Push(key8(i+1), Any); err != nil {
					t.Fatal(err)
				}
			}
			lost := m.Lost()
			if err := m.Push(key8(4), Any); !errors.Is(err, syscall.E2BIG) || m.Lost() != lost+1 {
				t.Errorf("%s: %v when it is full", kind, err)
			}
			for i := range uint64(2) {
				if err := m.Push(key8(i+4), Exist); err != nil {
					t.Error(err)
				}
			}
			for _, want := range order {
				for _, away := range []bool{false, true} {
					if err := m.Pull(value, away); err != nil || !bytes.Equal(value, key8(want)) {
						t.Errorf("%s: %v, %x, want %d", kind, err, value, want)
					}
				}
			}
		}
		for i := range uint64(2) { // there is room: nothing is dropped
			if err := m.Push(key8(i), Exist); err != nil {
				t.Error(err)
			}
		}
		if m.Pull(value, true) != nil || m.Pull(value, true) != nil {
			t.Errorf("%s: a value was dropped although there was room", kind)
		}
		for _, err := range []error{m.Push(key8(1), NoExist), m.Push(key4(1), Any), m.Pull(key4(1), true), m.Update(0, nil, key8(1), Any), m.Lookup(0, nil, value)} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		q := m.take()
		if err := m.Push(key8(1), Any); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("%v while another CPU changes it", err)
		}
		if err := m.Pull(value, true); !errors.Is(err, syscall.EBUSY) || !bytes.Equal(value, key8(0)) {
			t.Errorf("%v, %x while another CPU changes it", err, value)
		}
		if q.first >= 3 {
			t.Errorf("%s: the oldest of 3 places is %d", kind, q.first)
		}
		q.lock.Store(0)
	}
}

// TestQueueOfManyCPUs: each value that goes in comes out once.
func TestQueueOfManyCPUs(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.Queue, ValueSize: 16, MaxEntries: 10})
	var in, out, n atomic.Uint64
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			got := make([]byte, 16)
			for i := range uint64(20_000) {
				if v := i*4 + w; i%2 == 0 && m.Push(append(key8(v), key8(^v)...), Any) == nil {
					in.Add(v)
					n.Add(1)
				} else if i%2 == 1 && m.Pull(got, true) == nil {
					v := binary.LittleEndian.Uint64(got)
					if binary.LittleEndian.Uint64(got[8:]) != ^v {
						t.Errorf("%x", got)
					}
					out.Add(v)
				}
			}
		})
	}
	wg.Wait()
	for got := make([]byte, 16); m.Pull(got, true) == nil; {
		out.Add(binary.LittleEndian.Uint64(got))
	}
	if in.Load() != out.Load() || n.Load() < 100 {
		t.Errorf("%d went in, %d came out, of %d values", in.Load(), out.Load(), n.Load())
	}
}

// TestStacks: the same stack has the same number, another with that number is refused or takes its place.
func TestStacks(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.StackTrace, KeySize: 4, ValueSize: 32, MaxEntries: 64})
	one := newMap(t, bpf.MapSpec{Type: bpf.StackTrace, KeySize: 4, ValueSize: 32, MaxEntries: 1})
	pcs := []uintptr{5, 6, 7}
	id := m.keepStack(pcs, 0)
	value := make([]byte, 32)
	if m.keepStack(pcs, 0) != id || m.keepStack(pcs, compareFast) != id || m.Lookup(0, key4(uint32(id)), value) != nil || !bytes.Equal(value, append(append(key8(5), key8(6)...), append(key8(7), key8(0)...)...)) {
		t.Errorf("%d: %x", id, value)
	}
	depth := func(m *Map, id uintptr) uintptr {
		return helpDepth(uintptr(unsafe.Pointer(m)), id, 0, 0, 0, 0, 0, nil)
	}
	full := m.keepStack([]uintptr{1, 2, 3, 4}, 0)
	if d := [...]uintptr{depth(m, id), depth(m, 7<<32|id), depth(m, full), depth(m, 64), depth(m, result(syscall.EEXIST))}; d != [...]uintptr{3, 3, 4, 0, 0} {
		t.Errorf("the depths are %d", d)
	}
	m.Delete(0, key4(uint32(full)))
	if n := 0; true {
		m.Range(0, func(_, got []byte) bool { n++; return bytes.Equal(got, value) })
		if n != 1 {
			t.Errorf("%d stacks", n)
		}
	}
	if err := m.Delete(0, key4(uint32(id))); err != nil || m.Lookup(0, key4(uint32(id)), value) == nil || depth(m, id) != 0 {
		t.Errorf("%v: the stack is there, %d deep", err, depth(m, id))
	}
	for _, id := range []uint32{uint32(id), 64, 1 << 31} {
		if err := m.Delete(0, key4(id)); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%d: %v", id, err)
		}
	}
	if one.keepStack(pcs, 0) != 0 || one.keepStack(pcs[:2], 0) != result(syscall.EEXIST) || one.Lost() != 1 || one.keepStack(pcs[:2], replaceOld) != 0 || one.keepStack(pcs, 0) != result(syscall.EEXIST) {
		t.Errorf("two stacks in one place, %d lost", one.Lost())
	}
	if err := m.Update(0, key4(0), value, Any); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}

// TestEvents: records of a CPU come from its part alone.
func TestEvents(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.PerfEventArray, KeySize: 4, ValueSize: 4, MaxEntries: 4})
	data := []byte("0123456789abcdef")
	send := func(flags, n uintptr) int {
		return int(helpEvent(0, uintptr(unsafe.Pointer(m)), flags, wordOf(data), n, 0, 2, nil))
	}
	for flags, want := range map[uintptr]int{0xffffffff: 0, 2: 0, 1: -int(syscall.EOPNOTSUPP), 4: -int(syscall.E2BIG), 1 << 32: -int(syscall.EINVAL)} {
		if got := send(flags, 10); got != want {
			t.Errorf("flags %#x: %d, want %d", flags, got, want)
		}
	}
	for range 2 {
		if rec, ok := m.Take(nil); !ok || string(rec.Data) != "0123456789" || rec.CPU != 2 {
			t.Errorf("%v, %+v", ok, rec)
		}
	}
	if _, ok := m.Take(nil); ok {
		t.Error("a record too much")
	}
}

// TestMapsOfMaps: what a program finds, and how long it is kept.
func TestMapsOfMaps(t *testing.T) {
	for _, kind := range []bpf.MapType{bpf.ArrayOfMaps, bpf.HashOfMaps} {
		inner := bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 4}
		m, err := NewMap(bpf.MapSpec{Type: kind, KeySize: 4, ValueSize: 4, MaxEntries: 2, Inner: &inner})
		if err != nil {
			t.Fatal(err)
		}
		if m.Spec.Inner == &inner {
			t.Error("the spec of what is in it may be another map's")
		}
		find := func(i uint32) uintptr {
			return helpLookup(uintptr(unsafe.Pointer(m)), wordOf(key4(i)), 0, 0, 0, 0, 0, nil)
		}
		a, b := newMap(t, inner), newMap(t, inner)
		if find(0) != 0 || m.Put(key4(0), a) != nil || m.Put(key4(1), a) != nil || find(0) != uintptr(unsafe.Pointer(a)) || m.Inner(key4(1)) != a {
			t.Errorf("%s: a is not there", kind)
		}
		if err := m.Put(key4(0), b); err != nil || find(0) != uintptr(unsafe.Pointer(b)) || a.users != 1 {
			t.Errorf("%s: %v, a has %d users", kind, err, a.users)
		}
		if err := m.Put(key4(0), nil); err != nil || find(0) != 0 || b.users != 0 {
			t.Errorf("%s: %v, b has %d users", kind, err, b.users)
		}
		if err := m.Put(key4(0), nil); !errors.Is(err, syscall.ENOENT) {
			t.Error(err)
		}
		if kind == bpf.ArrayOfMaps {
			if err := m.Put(key4(2), b); !errors.Is(err, syscall.E2BIG) || b.users != 0 {
				t.Error(err, b.users)
			}
		}
		larger := inner
		larger.MaxEntries = 5
		for _, wrong := range []bpf.MapSpec{larger, {Type: bpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 4}, {Type: bpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 4}} {
			if err := m.Put(key4(0), newMap(t, wrong)); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		if err := m.Update(0, key4(0), key4(1), Any); !errors.Is(err, syscall.EINVAL) {
			t.Error(err)
		}
		a.Close()
		if a.memory == nil {
			t.Error("a is gone while a program can find it")
		}
		if m.Close(); a.memory != nil || a.users != 0 {
			t.Error("a is kept by a map that is gone")
		}
	}
}

// TestStacksTakeAsMuchAsTheyMay: a map for more stacks than there is memory for has fewer places, and none is
// outside of it.
func TestStacksTakeAsMuchAsTheyMay(t *testing.T) {
	m, err := NewMap(bpf.MapSpec{Name: "stacks", Type: bpf.StackTrace, KeySize: 4, ValueSize: 127 * 8, MaxEntries: 131072})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Bytes() > mostStacks+lineSize {
		t.Errorf("it takes %d bytes", m.Bytes())
	}
	kept := map[uint32]bool{}
	for i := range uintptr(5000) {
		if id := m.keepStack([]uintptr{i, i + 1, i + 2}, 0); int(id) >= 0 {
			kept[uint32(id)] = true
		}
	}
	if len(kept) < 4000 || uint64(len(kept))+m.Lost() != 5000 {
		t.Errorf("%d of 5000 stacks are kept, %d are lost", len(kept), m.Lost())
	}
	key := make([]byte, 4)
	n := 0
	for at, ok := m.Scan(0, key); ok; at, ok = m.Scan(at, key) {
		n++
	}
	if n != len(kept) {
		t.Errorf("%d stacks are found, %d kept", n, len(kept))
	}
	value := make([]byte, 127*8)
	if err := m.Lookup(0, []byte{0xff, 0xff, 1, 0}, value); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("beyond the places: %v", err)
	}
}
