package main

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"github.com/cilium/ebpf"
)

func newMap(kind ebpf.MapType, key, value, entries, flags uint32) *ebpf.Map {
	return got(ebpf.NewMap(&ebpf.MapSpec{Name: "m", Type: kind, KeySize: key, ValueSize: value, MaxEntries: entries, Flags: flags}))
}

// maps puts keys into maps of each kind that has them, finds them again, and removes them.
func maps() {
	for _, kind := range []ebpf.MapType{ebpf.Hash, ebpf.LRUHash, ebpf.Array} {
		m := newMap(kind, 4, 8, 100, 0)
		defer m.Close()
		for i := range uint32(100) {
			if err := m.Put(i, uint64(i)*3); err != nil {
				fail("%s: put %d: %w", kind, i, err)
			}
		}
		var key uint32
		var value, sum uint64
		n := 0
		for all := m.Iterate(); all.Next(&key, &value); n++ {
			if value != uint64(key)*3 {
				fail("%s: %d is at %d", kind, value, key)
			}
			sum += value
		}
		want(kind.String(), n, 100)
		want("the sum", sum, 99*100/2*3)
		if kind == ebpf.Array {
			continue
		}
		check(m.Delete(uint32(7)))
		if err := m.Lookup(uint32(7), &value); !errors.Is(err, ebpf.ErrKeyNotExist) {
			fail("%s: a key that was removed: %v", kind, err)
		}
		if err := m.LookupAndDelete(uint32(8), &value); err != nil || value != 24 {
			fail("%s: taken %d: %v", kind, value, err)
		}
		if err := m.Update(uint32(9), uint64(1), ebpf.UpdateNoExist); !errors.Is(err, ebpf.ErrKeyExist) {
			fail("%s: a key that is there: %v", kind, err)
		}
	}
}

// prefixes finds the longest prefix of an address.
func prefixes() {
	type prefix struct {
		Bits uint32
		Addr [4]byte
	}
	m := newMap(ebpf.LPMTrie, 8, 8, 100, 1)
	defer m.Close()
	for i := range uint32(33) {
		check(m.Put(prefix{i, [4]byte{255, 255, 255, 255}}, uint64(i)))
	}
	for i := range uint32(32) {
		addr := ^uint32(0x80000000 >> i)
		var n uint64
		check(m.Lookup(prefix{32, [4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}}, &n))
		want("the longest prefix", n, uint64(i))
	}
	var key prefix
	var value uint64
	left := 32
	for all := m.Iterate(); all.Next(&key, &value); left-- {
		want("the next prefix", value, uint64(left))
	}
	want("what is left", left, -1)
}

// batches copies many entries at once.
func batches() {
	m := newMap(ebpf.Hash, 4, 8, 1000, 0)
	defer m.Close()
	keys, values := make([]uint32, 500), make([]uint64, 500)
	for i := range keys {
		keys[i], values[i] = uint32(i), uint64(i*i)
	}
	if n, err := m.BatchUpdate(keys, values, nil); err != nil || n != 500 {
		fail("%d of 500: %w", n, err)
	}
	var cursor ebpf.MapBatchCursor
	seen := 0
	for {
		k, v := make([]uint32, 120), make([]uint64, 120)
		n, err := m.BatchLookup(&cursor, k, v, nil)
		for i := range n {
			if v[i] != uint64(k[i])*uint64(k[i]) {
				fail("%d is at %d", v[i], k[i])
			}
		}
		seen += n
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		check(err)
	}
	if n, err := m.BatchDelete(keys[:100], nil); err != nil || n != 100 {
		fail("%d of 100: %w", n, err)
	}
	want("the batches together", seen, 500)
}

// perCPU sets a value for each CPU.
func perCPU() {
	cpus := got(ebpf.PossibleCPU())
	for _, kind := range []ebpf.MapType{ebpf.PerCPUHash, ebpf.LRUCPUHash, ebpf.PerCPUArray} {
		m := newMap(kind, 4, 8, 10, 0)
		defer m.Close()
		values := make([]uint64, cpus)
		for i := range values {
			values[i] = uint64(i + 1)
		}
		check(m.Put(uint32(3), values))
		same(kind.String(), at[[]uint64](m, 3), values)
	}
}

// queues push and pop values without keys.
func queues() {
	for kind, order := range map[ebpf.MapType][]uint32{ebpf.Queue: {1, 2, 3}, ebpf.Stack: {3, 2, 1}} {
		m := newMap(kind, 0, 4, 3, 0)
		defer m.Close()
		for i := range uint32(3) {
			check(m.Put(nil, i+1))
		}
		var got []uint32
		for range 3 {
			var v uint32
			check(m.LookupAndDelete(nil, &v))
			got = append(got, v)
		}
		same(kind.String(), got, order)
	}
}

// inner puts maps into maps.
func inner() {
	spec := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 2}
	for _, kind := range []ebpf.MapType{ebpf.ArrayOfMaps, ebpf.HashOfMaps} {
		outer := got(ebpf.NewMap(&ebpf.MapSpec{Type: kind, KeySize: 4, MaxEntries: 4, InnerMap: spec}))
		defer outer.Close()
		in := got(ebpf.NewMap(spec))
		check(in.Put(uint32(1), uint32(42)), outer.Put(uint32(2), in), in.Close())
		found := at[*ebpf.Map](outer, 2)
		defer found.Close()
		want(kind.String(), at[uint32](found, 1), 42)
		check(outer.Delete(uint32(2)))
	}
}

// mapped reads and writes an array where it is mapped.
func mapped() {
	m := newMap(ebpf.Array, 4, 8, 600, 1<<10)
	defer m.Close()
	mem := got(m.Memory())
	got(mem.WriteAt([]byte{0x55, 0x44, 0, 0, 0, 0, 0, 0}, 8*599))
	want("what was written there", at[uint64](m, 599), 0x4455)
	check(m.Put(uint32(0), uint64(7)))
	b := make([]byte, 8)
	got(mem.ReadAt(b, 0))
	want("what is read there", b[0], 7)
}

// frozen cannot be changed any more.
func frozen() {
	m := newMap(ebpf.Array, 4, 4, 1, 0)
	defer m.Close()
	check(m.Freeze())
	if err := m.Put(uint32(0), uint32(1)); !errors.Is(err, os.ErrPermission) {
		fail("a map that is frozen was changed: %v", err)
	}
	want("frozen", got(m.Info()).Frozen(), true)
}

// freezing waits for the call that is writing: what is read after it stays.
func freezing() {
	const last = 4095
	m := newMap(ebpf.Array, 4, 4, last+1, 0)
	defer m.Close()
	keys := make([]uint32, last+1)
	for i := range keys {
		keys[i] = uint32(i)
	}
	written := make(chan error)
	go func() {
		values := make([]uint32, len(keys))
		for {
			for i := range values {
				values[i]++
			}
			if _, err := m.BatchUpdate(keys, values, nil); err != nil {
				written <- err
				return
			}
		}
	}()
	for at[uint32](m, 0) == 0 {
	}
	err := m.Freeze()
	for errors.Is(err, syscall.EBUSY) {
		err = m.Freeze()
	}
	check(err)
	then := at[uint32](m, last)
	if err := <-written; !errors.Is(err, os.ErrPermission) {
		fail("writing ended with %v", err)
	}
	want("the value when it was frozen", at[uint32](m, last), then)
}

// pins find a map again by a file.
func pins() {
	const file = "/sys/fs/bpf/ebpf_test"
	m := newMap(ebpf.Hash, 4, 4, 10, 0)
	check(m.Put(uint32(1), uint32(2)), m.Pin(file), m.Close())
	m = got(ebpf.LoadPinnedMap(file, nil))
	defer m.Close()
	want("what is in it", at[uint32](m, 1), 2)
	check(m.Unpin())
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		fail("the file is still there: %v", err)
	}
	id, ok := got(m.Info()).ID()
	var ids []ebpf.MapID
	for last := ebpf.MapID(0); ; {
		next, err := ebpf.MapGetNextID(last)
		if err != nil {
			break
		}
		ids, last = append(ids, next), next
	}
	want("among the numbers", ok && slices.Contains(ids, id), true)
}
