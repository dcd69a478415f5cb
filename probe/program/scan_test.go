package program

import (
	"encoding/binary"
	"slices"
	"testing"

	"sonde/bpf"
)

// TestScanFindsEachKeyOnce goes through all kinds that have keys, from place to place and from key to key.
func TestScanFindsEachKeyOnce(t *testing.T) {
	for _, kind := range []bpf.MapType{bpf.Hash, bpf.PerCPUHash, bpf.LRUHash, bpf.Array, bpf.PerCPUArray} {
		m, err := NewMap(bpf.MapSpec{Name: "m", Type: kind, KeySize: 4, ValueSize: 8, MaxEntries: 40})
		if err != nil {
			t.Fatal(err)
		}
		key := make([]byte, 4)
		for i := range uint32(40) {
			binary.LittleEndian.PutUint32(key, i)
			for cpu := range m.Tables() {
				if cpu == int(i)%m.Tables() || i%3 == 0 { // some keys are in the tables of all CPUs
					m.Update(cpu, key, make([]byte, 8), Any)
				}
			}
		}
		seen, from, again := map[uint32]int{}, uint64(0), 0
		for {
			next, ok := m.Scan(from, key)
			if !ok {
				break
			}
			seen[binary.LittleEndian.Uint32(key)]++
			if at, ok := m.PlaceOf(key); !ok || at+1 != next {
				t.Errorf("%s: the key behind %d is at %d, %v", kind, next, at, ok)
			}
			from = next
			again++
		}
		if len(seen) != 40 || again != 40 {
			t.Errorf("%s: %d keys, %d of them different", kind, again, len(seen))
		}
		binary.LittleEndian.PutUint32(key, 99)
		if _, ok := m.PlaceOf(key); ok {
			t.Errorf("%s: a key that is not there has a place", kind)
		}
		m.Close()
	}
}

// TestListsThatWereRead: who reads a list goes on with what it was, whatever comes and goes meanwhile.
func TestListsThatWereRead(t *testing.T) {
	var r registry[*Map]
	a, b, c := new(Map), new(Map), new(Map)
	for _, m := range []*Map{a, b, c} {
		r.add(m)
	}
	before := r.get()
	r.remove(a)
	r.remove(a) // it is not there
	if now := r.get(); !slices.Equal(now, []*Map{b, c}) {
		t.Errorf("%d are left", len(now))
	}
	r.add(a)
	if !slices.Equal(before, []*Map{a, b, c}) || a.ID != 4 {
		t.Errorf("the list that was read has changed, or %d is the number of another one", a.ID)
	}
}
