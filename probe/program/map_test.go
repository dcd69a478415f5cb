package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"sonde/bpf"
)

func newMap(t testing.TB, s bpf.MapSpec) *Map {
	t.Helper()
	m, err := NewMap(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.Close(); m.memory != nil {
			t.Error("a closed map has memory")
		}
	})
	return m
}

func key4(i uint32) []byte { return binary.LittleEndian.AppendUint32(nil, i) }
func key8(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) }

func TestBadMaps(t *testing.T) {
	used := memory.inUse()
	for _, c := range []struct {
		spec  bpf.MapSpec
		errno syscall.Errno
	}{
		{bpf.MapSpec{Type: bpf.Array, KeySize: 8, ValueSize: 8, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 8}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1, Flags: 1 << 20}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Hash, ValueSize: 8, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Hash, KeySize: maxKey + 1, ValueSize: 8, MaxEntries: 1}, syscall.E2BIG},
		{bpf.MapSpec{Type: bpf.PerCPUHash, KeySize: 4, ValueSize: maxValue + 1, MaxEntries: 1}, syscall.E2BIG},
		{bpf.MapSpec{Type: bpf.PerCPUHash, KeySize: 4, ValueSize: maxValue, MaxEntries: 1 << 30}, syscall.ENOMEM},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: ^uint32(0)}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 1 << 10, MaxEntries: 1 << 20}, syscall.ENOMEM},
		{bpf.MapSpec{Type: bpf.RingBuf, MaxEntries: 3000}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.RingBuf, MaxEntries: 4096, ValueSize: 8}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Queue, KeySize: 4, ValueSize: 8, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Stack, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.StackTrace, KeySize: 4, ValueSize: 12, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.StackTrace, KeySize: 4, ValueSize: 8 * (maxDepth + 1), MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.PerfEventArray, KeySize: 4, ValueSize: 8, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.ArrayOfMaps, KeySize: 4, ValueSize: 8, MaxEntries: 1, Inner: &bpf.MapSpec{}}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.HashOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 1, Inner: &bpf.MapSpec{Inner: &bpf.MapSpec{}}}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1, Inner: &bpf.MapSpec{}}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.ProgArray, KeySize: 8, ValueSize: 4, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.ProgArray, KeySize: 4, ValueSize: 8, MaxEntries: 1}, syscall.EINVAL},
		{bpf.MapSpec{Type: bpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 1, Inner: &bpf.MapSpec{Type: bpf.ProgArray, KeySize: 4, ValueSize: 4, MaxEntries: 1}}, syscall.EINVAL},
		{bpf.MapSpec{Type: 8, KeySize: 4, ValueSize: 4, MaxEntries: 1}, syscall.EINVAL},
	} {
		if m, err := NewMap(c.spec); !errors.Is(err, c.errno) || m != nil {
			t.Errorf("%+v: %v, want %v", c.spec, err, c.errno)
		}
	}
	if memory.inUse() != used {
		t.Errorf("%d bytes are left", memory.inUse()-used)
	}
}

func TestArray(t *testing.T) {
	for _, typ := range []bpf.MapType{bpf.Array, bpf.PerCPUArray} {
		m := newMap(t, bpf.MapSpec{Name: "a", Type: typ, KeySize: 4, ValueSize: 11, MaxEntries: 7})
		for cpu := range m.Tables() {
			for i := range uint32(7) {
				if err := m.Update(cpu, key4(i), bytes.Repeat([]byte{byte(i), byte(cpu)}, 6)[:11], Any); err != nil {
					t.Fatal(err)
				}
			}
		}
		value := make([]byte, 11)
		for cpu := range m.Tables() {
			n := 0
			m.Range(cpu, func(key, value []byte) bool {
				if i := binary.LittleEndian.Uint32(key); int(i) != n || !bytes.Equal(value, bytes.Repeat([]byte{byte(i), byte(cpu)}, 6)[:11]) {
					t.Errorf("%s, CPU %d: %d: %x", typ, cpu, i, value)
				}
				n++
				return n < 5
			})
			if n != 5 {
				t.Errorf("%s: %d elements after the end", typ, n)
			}
			if err := m.Lookup(cpu, key4(7), value); !errors.Is(err, syscall.ENOENT) {
				t.Error(err)
			}
		}
		for want, all := range map[syscall.Errno][]error{
			syscall.E2BIG: {m.Update(0, key4(7), value, Any)}, syscall.EEXIST: {m.Update(0, key4(1), value, NoExist)},
			syscall.EINVAL: {m.Delete(0, key4(1)), m.Update(0, key4(1), value[1:], Any), m.Lookup(0, key4(1)[1:], value), m.Update(0, key4(1), value, 3)},
		} {
			for i, err := range all {
				if !errors.Is(err, want) {
					t.Errorf("%d: %v, want %v", i, err, want)
				}
			}
		}
	}
}

// TestHashLikeAMap does random things to a hash and to a map of Go's; it is so small that it is full at
// times, and keys collide.
func TestHashLikeAMap(t *testing.T) {
	const most = 20
	m := newMap(t, bpf.MapSpec{Name: "h", Type: bpf.Hash, KeySize: 5, ValueSize: 12, MaxEntries: most})
	model := map[string]string{}
	rnd := rand.New(rand.NewSource(1))
	lost := uint64(0)
	for range 200_000 {
		key, value := append(key4(uint32(rnd.Intn(40))), 9), make([]byte, 12)
		rnd.Read(value)
		old, there := model[string(key)]
		var want syscall.Errno
		var err error
		switch op := rnd.Intn(6); op {
		case 0, 1, 2: // Any, NoExist, Exist
			switch {
			case there && op == NoExist:
				want = syscall.EEXIST
			case !there && op == Exist:
				want = syscall.ENOENT
			case !there && len(model) == most:
				want = syscall.E2BIG
				lost++
			default:
				model[string(key)] = string(value)
			}
			err = m.Update(0, key, value, uint64(op))
		case 3:
			if delete(model, string(key)); !there {
				want = syscall.ENOENT
			}
			err = m.Delete(0, key)
		default:
			if !there {
				want = syscall.ENOENT
			}
			if err = m.Lookup(0, key, value); there && string(value) != old {
				t.Fatalf("%x: %x, want %x", key, value, old)
			}
		}
		if want == 0 && err != nil || want != 0 && !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
	n := 0
	m.Range(0, func(key, value []byte) bool { n++; return model[string(key)] == string(value) })
	if n != len(model) || lost == 0 || m.Lost() != lost {
		t.Errorf("%d keys of %d; %d lost, want %d", n, len(model), m.Lost(), lost)
	}
}

// TestHashOfManyCPUs: each key is added, changed and removed by all at once; it is never there twice, and
// what is read is whole.
func TestHashOfManyCPUs(t *testing.T) {
	const keys, workers, rounds = 16, 4, 20_000
	m := newMap(t, bpf.MapSpec{Name: "h", Type: bpf.Hash, KeySize: 8, ValueSize: 16, MaxEntries: keys})
	var there [keys]atomic.Int64 // added less removed
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(int64(w)))
			for range rounds {
				k := uint64(rnd.Intn(keys))
				key, value := key8(k), append(key8(k), key8(^k)...)
				switch rnd.Intn(3) {
				case 0:
					if m.Update(0, key, value, NoExist) == nil {
						there[k].Add(1)
					}
				case 1:
					if m.Delete(0, key) == nil {
						there[k].Add(-1)
					}
				case 2:
					got := make([]byte, 16)
					if m.Lookup(0, key, got) == nil && !bytes.Equal(got, value) {
						t.Errorf("key %d: %x", k, got)
					}
				}
			}
		}()
	}
	wg.Wait()
	seen := map[uint64]int64{}
	m.Range(0, func(key, value []byte) bool {
		seen[binary.LittleEndian.Uint64(key)]++
		return true
	})
	for k := range uint64(keys) {
		if n := there[k].Load(); n != seen[k] {
			t.Errorf("key %d is there %d times, was added %d times more than removed", k, seen[k], n)
		}
	}
	if n := (*table)(m.table(0)).entries.Load(); n != int64(len(seen)) {
		t.Errorf("%d entries are counted, %d are there", n, len(seen))
	}
}

// TestClaim: of CPUs that have found the same entry free, one gets it; it is free again when its key is
// removed, and then nobody gets it who has looked before.
func TestClaim(t *testing.T) {
	var e entry
	first := e.word.Load()
	next, ok := e.claim(first)
	if _, again := e.claim(first); !ok || again {
		t.Errorf("a free entry: %t, and again: %t", ok, again)
	}
	for _, state := range []uint64{filling, full} {
		e.word.Store(next | state)
		if _, ok := e.claim(e.word.Load()); ok {
			t.Errorf("an entry in state %d was free", state)
		}
	}
	e.word.Store(next | deleted)
	if _, ok := e.claim(first); ok {
		t.Error("an entry was free for who has looked before it was used")
	}
	if later, ok := e.claim(next | deleted); !ok || later == next {
		t.Errorf("a removed key: %t, word %#x after %#x", ok, later, next)
	}
}

func TestPerCPUHashHasTables(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.PerCPUHash, KeySize: 8, ValueSize: 8, MaxEntries: 2})
	for cpu := range m.Tables() {
		for i := range uint64(2) {
			if err := m.Update(cpu, key8(i), key8(uint64(cpu)), NoExist); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Update(cpu, key8(9), key8(9), Any); !errors.Is(err, syscall.E2BIG) {
			t.Error(err)
		}
	}
	got := make([]byte, 8)
	if err := m.Lookup(3, key8(1), got); err != nil || got[0] != 3 {
		t.Errorf("%v, %x", err, got)
	}
}

func TestRecords(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.RingBuf, MaxEntries: 4096})
	for i := range 300 {
		p := m.reserve(i%4, 13, int64(i))
		if p == nil || writerOf(p) != m.ring.Writer(i%4) {
			t.Fatal("no room, or of another map")
		}
		store(p, at(bytes.Repeat([]byte{byte(i)}, 16)), 8)
		if i%3 != 0 {
			submit(p)
		} else {
			discard(p)
		}
		rec, ok := m.Take(nil)
		if ok != (i%3 != 0) || ok && (len(rec.Data) != 13 || rec.Data[7] != byte(i) || rec.CPU != i%4) {
			t.Fatalf("%v, %+v", ok, rec)
		}
	}
	if m.reserve(0, 4096, 0) != nil || m.Lost() != 1 {
		t.Errorf("%d are lost", m.Lost())
	}
	if err := m.Update(0, nil, nil, Any); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}

// TestArena takes and gives back pieces of many sizes; none overlaps another, all are cleared, and at the
// end nothing is left.
func TestArena(t *testing.T) {
	ranges := 0
	a := arena{give: func([]byte) { ranges-- }, take: func(n int) ([]byte, error) {
		ranges++
		return bytes.Repeat([]byte{0xcc}, n), nil
	}}
	rnd := rand.New(rand.NewSource(1))
	var mine [][]byte
	for i := range 3000 {
		if len(mine) > 0 && rnd.Intn(2) == 0 {
			k := rnd.Intn(len(mine))
			for _, b := range mine[k] {
				if b != byte(len(mine[k])>>12) {
					t.Fatal("another piece is there, too")
				}
			}
			a.free(mine[k])
			mine = append(mine[:k], mine[k+1:]...)
			continue
		}
		n := 1 + rnd.Intn(1<<rnd.Intn(20))
		if i%500 == 7 {
			n = 3 << 20
		}
		mem, err := a.alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(mem) < n || bytes.IndexFunc(mem, func(r rune) bool { return r != 0 }) >= 0 {
			t.Fatal("too short, or not cleared")
		}
		copy(mem, bytes.Repeat([]byte{byte(len(mem) >> 12)}, len(mem)))
		mine = append(mine, mem)
	}
	for _, mem := range mine {
		a.free(mem)
	}
	if ranges != 0 || a.inUse() != 0 || len(a.blocks) != 0 {
		t.Errorf("%d ranges, %d bytes, %d blocks are left", ranges, a.inUse(), len(a.blocks))
	}
	if _, err := a.alloc(1 << 30); !errors.Is(err, syscall.ENOMEM) {
		t.Error(err)
	}
}

// TestLockedKey: while one CPU adds or removes a key, another cannot, and does not wait for ever.
func TestLockedKey(t *testing.T) {
	m := newMap(t, bpf.MapSpec{Type: bpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 4})
	key := key8(1)
	l := (*table)(m.table(0)).lock(m.hash(at(key)))
	for _, err := range []error{m.Update(0, key, key, Any), m.Delete(0, key)} {
		if !errors.Is(err, syscall.EBUSY) {
			t.Errorf("%v while the key is locked", err)
		}
	}
	if l.Store(0); m.Update(0, key, key, Any) != nil || m.Lost() != 2 {
		t.Errorf("afterwards the key cannot be added, or %d are lost", m.Lost())
	}
}

// TestMemoryInProgramsIsKept: what a program still has in its tables is given up when it has it no more, whatever
// is asked for next.
func TestMemoryInProgramsIsKept(t *testing.T) {
	before := inPrograms
	defer func() { inPrograms = before }()
	mapped := true
	inPrograms = func([]byte) bool { return mapped }
	mem, err := NewPages(pageSize)
	if err != nil {
		t.Fatal(err)
	}
	used := memory.inUse()
	FreePages(mem)
	if n := memory.inUse(); n != used {
		t.Errorf("%d bytes, not %d: memory was given up that a program has mapped", n, used)
	}
	other, err := NewPages(pageSize)
	if err != nil {
		t.Fatal(err)
	}
	if &other[0] == &mem[0] {
		t.Error("it is somebody else's already")
	}
	mapped = false
	FreePages(other)
	if n := memory.inUse(); n != used-pageSize {
		t.Errorf("%d bytes are left, not %d", n, used-pageSize)
	}
}
