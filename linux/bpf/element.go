package sysbpf

import (
	"encoding/binary"
	"errors"
	"slices"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// What processes do with one entry of a map. A value of a per-CPU map is those of all CPUs, each at a multiple of
// 8 bytes.

// valueSize is how many bytes the value of an entry has for a process.
func valueSize(m *program.Map) int {
	switch m.Spec.Type {
	case bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUPerCPUHash:
		return eight(m.Spec.ValueSize) * m.Tables()
	}
	return int(m.Spec.ValueSize)
}

func eight(n uint32) int { return int(n+7) &^ 7 }

func isQueue(m *program.Map) bool { return m.Spec.Type == bpf.Queue || m.Spec.Type == bpf.Stack }

func hasMaps(m *program.Map) bool { return m.Spec.Inner != nil }

// lookup copies the value of a key.
func lookup(m *program.Map, key, value []byte) error {
	switch {
	case hasMaps(m):
		inner := m.Inner(key)
		if inner == nil {
			return refusal.New(syscall.ENOENT, "map %s: there is no map at %x", m.Spec.Name, key)
		}
		binary.LittleEndian.PutUint32(value, uint32(inner.ID))
		return nil
	case m.Spec.Type == bpf.ProgArray:
		p := m.ProgAt(binary.LittleEndian.Uint32(key))
		if p == nil {
			return refusal.New(syscall.ENOENT, "map %s: there is no program at %x", m.Spec.Name, key)
		}
		binary.LittleEndian.PutUint32(value, uint32(p.ID))
		return nil
	case isQueue(m):
		return m.Pull(value, false)
	case m.Spec.Type == bpf.PerfEventArray || m.Shared() != nil:
		return refusal.New(syscall.EOPNOTSUPP, "map %s: a %s has no values to look up", m.Spec.Name, m.Spec.Type)
	case m.Tables() == 1 && len(value) == int(m.Spec.ValueSize):
		return m.Lookup(0, key, value)
	}
	return inTables(m, key, func(cpu int) error { return m.Lookup(cpu, key, part(m, value, cpu)) })
}

// inTables does something to the key in the tables of all CPUs. It need not be in each.
//
// Errors: ENOENT it is in none.
func inTables(m *program.Map, key []byte, do func(cpu int) error) error {
	found := false
	for cpu := range m.Tables() {
		err := do(cpu)
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
		found = found || err == nil
	}
	if !found {
		return refusal.New(syscall.ENOENT, "map %s: there is no key %x", m.Spec.Name, key)
	}
	return nil
}

// part is a CPU's part of a value.
func part(m *program.Map, value []byte, cpu int) []byte {
	at := cpu * eight(m.Spec.ValueSize)
	return value[at : at+int(m.Spec.ValueSize)]
}

// filled are the maps of what descriptors stand for by index.
var filled = []bpf.MapType{bpf.PerfEventArray, bpf.ArrayOfMaps, bpf.ProgArray}

// update sets the value of a key.
func (f *mapFile) update(c *call, key, value []byte, how uint64) error {
	m := f.m
	switch {
	case how != program.Any && slices.Contains(filled, m.Spec.Type):
		return refusal.New(syscall.EINVAL, "map %s: flags %#x: its indices are always there", m.Spec.Name, how)
	case m.Spec.Type == bpf.PerfEventArray:
		return f.putPerf(c, key, value)
	case m.Spec.Type == bpf.ProgArray:
		return f.putProg(c, key, value)
	case hasMaps(m):
		return f.putMap(c, key, value, how)
	case isQueue(m):
		return m.Push(value, how)
	case m.Shared() != nil || m.Spec.Type == bpf.StackTrace:
		return refusal.New(syscall.EINVAL, "map %s: only programs write to a %s", m.Spec.Name, m.Spec.Type)
	case m.Tables() == 1 && len(value) == int(m.Spec.ValueSize):
		return m.Update(0, key, value, how)
	case how > program.Exist:
		return refusal.New(syscall.EINVAL, "map %s: flags %#x are not known", m.Spec.Name, how)
	}
	if _, there := m.PlaceOf(key); there && how == program.NoExist {
		return refusal.New(syscall.EEXIST, "map %s: the key %x is there", m.Spec.Name, key)
	} else if !there && m.Spec.Type == bpf.PerCPUArray {
		return refusal.New(syscall.E2BIG, "map %s: there is no index %x", m.Spec.Name, key)
	} else if !there && how == program.Exist {
		return refusal.New(syscall.ENOENT, "map %s: there is no key %x", m.Spec.Name, key)
	}
	for cpu := range m.Tables() {
		if err := m.Update(cpu, key, part(m, value, cpu), program.Any); err != nil {
			return err
		}
	}
	return nil
}

// putMap puts the map of a descriptor into a map of maps.
func (f *mapFile) putMap(c *call, key, value []byte, how uint64) error {
	if how > program.Exist {
		return refusal.New(syscall.EINVAL, "map %s: flags %#x are not known", f.m.Spec.Name, how)
	}
	there := f.m.Inner(key) != nil
	switch {
	case there && how == program.NoExist:
		return syscall.EEXIST
	case !there && how == program.Exist:
		return syscall.ENOENT
	}
	file, inner, err := c.holdMap(int(int32(binary.LittleEndian.Uint32(value))), forAny)
	if err != nil {
		return err
	}
	defer file.release()
	return f.m.Put(key, inner.m)
}

// putProg puts the program of a descriptor into a program array.
func (f *mapFile) putProg(c *call, key, value []byte) error {
	file, err := c.Hold(int(int32(binary.LittleEndian.Uint32(value))))
	if err != nil {
		return err
	}
	defer vfs.Close(file)
	p, err := ProgramOf(file)
	if err != nil {
		return err
	}
	return f.m.PutProg(binary.LittleEndian.Uint32(key), p)
}

// remove removes a key.
func (f *mapFile) remove(key []byte) error {
	m := f.m
	switch {
	case hasMaps(m):
		return m.Put(key, nil)
	case m.Spec.Type == bpf.PerfEventArray:
		return f.dropPerf(key)
	case m.Spec.Type == bpf.ProgArray:
		return m.PutProg(binary.LittleEndian.Uint32(key), nil)
	case isQueue(m) || m.Shared() != nil:
		return refusal.New(syscall.EINVAL, "map %s: a %s has no keys", m.Spec.Name, m.Spec.Type)
	}
	return inTables(m, key, func(cpu int) error { return m.Delete(cpu, key) })
}

// keyAt copies the key of an entry. A map without keys has none.
func (c *call) keyAt(m *program.Map, off int) ([]byte, error) {
	addr := c.u64(off)
	if m.Spec.KeySize == 0 {
		if addr != 0 {
			return nil, refusal.New(syscall.EINVAL, "map %s has no keys", m.Spec.Name)
		}
		return nil, nil
	}
	return c.in(addr, int(m.Spec.KeySize))
}

func mapLookup(c *call, h *mapFile) error { return c.lookUp(h, false) }

func mapTake(c *call, h *mapFile) error { return c.lookUp(h, true) }

// lookUp is the command that copies a value, and the one that removes it, too.
func (c *call) lookUp(h *mapFile, away bool) error {
	if c.u64(24) != 0 {
		return refusal.New(syscall.EINVAL, "flags %#x are not known here", c.u64(24))
	}
	key, err := c.keyAt(h.m, 8)
	if err != nil {
		return err
	}
	value := make([]byte, valueSize(h.m))
	if away {
		err = h.take(c, key, value)
	} else {
		err = lookup(h.m, key, value)
	}
	if err != nil {
		return err
	}
	return c.Out(c.u64(16), value)
}

// takes are the maps out of which entries can be taken.
var takes = []bpf.MapType{bpf.Hash, bpf.PerCPUHash, bpf.LRUHash, bpf.LRUPerCPUHash, bpf.Queue, bpf.Stack}

// take copies a value and removes it.
func (f *mapFile) take(c *call, key, value []byte) error {
	switch {
	case isQueue(f.m):
		return f.m.Pull(value, true)
	case !slices.Contains(takes, f.m.Spec.Type):
		return refusal.New(syscall.EOPNOTSUPP, "map %s: entries of a %s stay", f.m.Spec.Name, f.m.Spec.Type)
	}
	if err := lookup(f.m, key, value); err != nil {
		return err
	}
	return f.remove(key)
}

func mapUpdate(c *call, h *mapFile) error {
	key, err := c.keyAt(h.m, 8)
	if err != nil {
		return err
	}
	value, err := c.in(c.u64(16), valueSize(h.m))
	if err != nil {
		return err
	}
	return h.update(c, key, value, c.u64(24))
}

func mapDelete(c *call, h *mapFile) error {
	key, err := c.keyAt(h.m, 8)
	if err != nil {
		return err
	}
	return h.remove(key)
}

// mapNextKey gives the key after one, or the first for one that is not there.
func mapNextKey(c *call, h *mapFile) error {
	if h.m.Spec.KeySize == 0 {
		return refusal.New(syscall.EINVAL, "map %s has no keys", h.m.Spec.Name)
	}
	from := uint64(0)
	if c.u64(8) != 0 {
		key, err := c.in(c.u64(8), int(h.m.Spec.KeySize))
		if err != nil {
			return err
		}
		if at, ok := h.m.PlaceOf(key); ok {
			from = at + 1
		}
	}
	next := make([]byte, h.m.Spec.KeySize)
	if _, ok := h.m.Scan(from, next); !ok {
		return refusal.New(syscall.ENOENT, "map %s has no more keys", h.m.Spec.Name)
	}
	return c.Out(c.u64(16), next)
}
