package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/cilium/ebpf"
)

func newMap(kind ebpf.MapType, key, value, entries, flags uint32) (*ebpf.Map, error) {
	return ebpf.NewMap(&ebpf.MapSpec{Name: "m", Type: kind, KeySize: key, ValueSize: value, MaxEntries: entries, Flags: flags})
}

// maps puts keys into maps of each kind that has them, finds them again, and removes them.
func maps() error {
	for _, kind := range []ebpf.MapType{ebpf.Hash, ebpf.LRUHash, ebpf.Array} {
		m, err := newMap(kind, 4, 8, 100, 0)
		if err != nil {
			return err
		}
		defer m.Close()
		for i := range uint32(100) {
			if err := m.Put(i, uint64(i)*3); err != nil {
				return fmt.Errorf("%s: put %d: %w", kind, i, err)
			}
		}
		var key uint32
		var value, sum uint64
		n := 0
		for all := m.Iterate(); all.Next(&key, &value); n++ {
			if value != uint64(key)*3 {
				return fmt.Errorf("%s: %d is at %d", kind, value, key)
			}
			sum += value
		}
		if err := errors.Join(want(kind.String(), n, 100), want("the sum", sum, 99*100/2*3)); err != nil {
			return err
		}
		if kind == ebpf.Array {
			continue
		}
		if err := m.Delete(uint32(7)); err != nil {
			return err
		}
		if err := m.Lookup(uint32(7), &value); !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("%s: a key that was removed: %v", kind, err)
		}
		if err := m.LookupAndDelete(uint32(8), &value); err != nil || value != 24 {
			return fmt.Errorf("%s: taken %d: %v", kind, value, err)
		}
		if err := m.Update(uint32(9), uint64(1), ebpf.UpdateNoExist); !errors.Is(err, ebpf.ErrKeyExist) {
			return fmt.Errorf("%s: a key that is there: %v", kind, err)
		}
	}
	return nil
}

// batches copies many entries at once.
func batches() error {
	m, err := newMap(ebpf.Hash, 4, 8, 1000, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	keys, values := make([]uint32, 500), make([]uint64, 500)
	for i := range keys {
		keys[i], values[i] = uint32(i), uint64(i*i)
	}
	if n, err := m.BatchUpdate(keys, values, nil); err != nil || n != 500 {
		return fmt.Errorf("%d of 500: %w", n, err)
	}
	var cursor ebpf.MapBatchCursor
	seen := 0
	for {
		k, v := make([]uint32, 120), make([]uint64, 120)
		n, err := m.BatchLookup(&cursor, k, v, nil)
		for i := range n {
			if v[i] != uint64(k[i])*uint64(k[i]) {
				return fmt.Errorf("%d is at %d", v[i], k[i])
			}
		}
		seen += n
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return err
		}
	}
	if n, err := m.BatchDelete(keys[:100], nil); err != nil || n != 100 {
		return fmt.Errorf("%d of 100: %w", n, err)
	}
	return want("the batches together", seen, 500)
}

// perCPU sets a value for each CPU.
func perCPU() error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	for _, kind := range []ebpf.MapType{ebpf.PerCPUHash, ebpf.LRUCPUHash, ebpf.PerCPUArray} {
		m, err := newMap(kind, 4, 8, 10, 0)
		if err != nil {
			return err
		}
		defer m.Close()
		values := make([]uint64, cpus)
		for i := range values {
			values[i] = uint64(i + 1)
		}
		var got []uint64
		if err := errors.Join(m.Put(uint32(3), values), m.Lookup(uint32(3), &got)); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err := same(kind.String(), got, values); err != nil {
			return err
		}
	}
	return nil
}

// queues push and pop values without keys.
func queues() error {
	for kind, order := range map[ebpf.MapType][]uint32{ebpf.Queue: {1, 2, 3}, ebpf.Stack: {3, 2, 1}} {
		m, err := newMap(kind, 0, 4, 3, 0)
		if err != nil {
			return err
		}
		defer m.Close()
		for i := range uint32(3) {
			if err := m.Put(nil, i+1); err != nil {
				return err
			}
		}
		var got []uint32
		for range 3 {
			var v uint32
			if err := m.LookupAndDelete(nil, &v); err != nil {
				return err
			}
			got = append(got, v)
		}
		if err := same(kind.String(), got, order); err != nil {
			return err
		}
	}
	return nil
}

// inner puts maps into maps.
func inner() error {
	spec := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 2}
	for _, kind := range []ebpf.MapType{ebpf.ArrayOfMaps, ebpf.HashOfMaps} {
		outer, err := ebpf.NewMap(&ebpf.MapSpec{Type: kind, KeySize: 4, MaxEntries: 4, InnerMap: spec})
		if err != nil {
			return err
		}
		defer outer.Close()
		in, err := ebpf.NewMap(spec)
		if err != nil {
			return err
		}
		if err := errors.Join(in.Put(uint32(1), uint32(42)), outer.Put(uint32(2), in), in.Close()); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		var found *ebpf.Map
		if err := outer.Lookup(uint32(2), &found); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		var v uint32
		err = found.Lookup(uint32(1), &v)
		found.Close()
		if err := errors.Join(err, want(kind.String(), v, 42), outer.Delete(uint32(2))); err != nil {
			return err
		}
	}
	return nil
}

// mapped reads and writes an array where it is mapped.
func mapped() error {
	m, err := newMap(ebpf.Array, 4, 8, 600, 1<<10)
	if err != nil {
		return err
	}
	defer m.Close()
	mem, err := m.Memory()
	if err != nil {
		return err
	}
	if _, err := mem.WriteAt([]byte{0x55, 0x44, 0, 0, 0, 0, 0, 0}, 8*599); err != nil {
		return err
	}
	var v uint64
	if err := errors.Join(m.Lookup(uint32(599), &v), want("what was written there", v, 0x4455), m.Put(uint32(0), uint64(7))); err != nil {
		return err
	}
	b := make([]byte, 8)
	_, err = mem.ReadAt(b, 0)
	return errors.Join(err, want("what is read there", b[0], 7))
}

// frozen cannot be changed any more.
func frozen() error {
	m, err := newMap(ebpf.Array, 4, 4, 1, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.Freeze(); err != nil {
		return err
	}
	if err := m.Put(uint32(0), uint32(1)); !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("a map that is frozen was changed: %v", err)
	}
	info, err := m.Info()
	if err != nil {
		return err
	}
	return want("frozen", info.Frozen(), true)
}

// freezing waits for the call that is writing: what is read after it stays.
func freezing() error {
	const last = 4095
	m, err := newMap(ebpf.Array, 4, 4, last+1, 0)
	if err != nil {
		return err
	}
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
	var begun, then, now uint32
	for err == nil && begun == 0 {
		err = m.Lookup(uint32(0), &begun)
	}
	if err == nil {
		err = m.Freeze()
	}
	for errors.Is(err, syscall.EBUSY) {
		err = m.Freeze()
	}
	if err := errors.Join(err, m.Lookup(uint32(last), &then)); err != nil {
		return err
	}
	if err := <-written; !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("writing ended with %v", err)
	}
	return errors.Join(m.Lookup(uint32(last), &now), want("the value when it was frozen", now, then))
}

// pins find a map again by a file.
func pins() error {
	const file = "/sys/fs/bpf/ebpf_test"
	m, err := newMap(ebpf.Hash, 4, 4, 10, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(m.Put(uint32(1), uint32(2)), m.Pin(file), m.Close()); err != nil {
		return err
	}
	m, err = ebpf.LoadPinnedMap(file, nil)
	if err != nil {
		return err
	}
	defer m.Close()
	var v uint32
	if err := errors.Join(m.Lookup(uint32(1), &v), want("what is in it", v, 2), m.Unpin()); err != nil {
		return err
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the file is still there: %v", err)
	}
	id, ok := func() (ebpf.MapID, bool) { i, err := m.Info(); id, ok := i.ID(); return id, ok && err == nil }()
	var ids []ebpf.MapID
	for last := ebpf.MapID(0); ; {
		next, err := ebpf.MapGetNextID(last)
		if err != nil {
			break
		}
		ids, last = append(ids, next), next
	}
	return want("among the numbers", ok && slices.Contains(ids, id), true)
}
